package sqltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A program does not touch what one of another version has written, neither when it opens the file nor when that
// happens while it is open; and it says what to do.
func TestOtherFormat(t *testing.T) {
	for _, found := range []int{0, 1, 3} {
		t.Run(fmt.Sprint("format ", found), func(t *testing.T) {
			refusesFormat(t, found, "UPDATE holdfast_store SET format = ?")
		})
	}
}

// The error is the same where the tables of the other format lack a column.
func TestFormatWithoutAColumn(t *testing.T) {
	refusesFormat(t, 1, "UPDATE holdfast_store SET format = ?; ALTER TABLE holdfast_store DROP COLUMN began")
}

// refusesFormat fails unless a file is refused, and left alone, once a statement has put it in another format.
func refusesFormat(t *testing.T, found int, statement string) {
	t.Helper()
	path := newFile(t)
	d, c := open(t, path), mutex("m")
	request(t, d, c, true)
	change(t, path, statement, found)

	_, opened := drivertest.Open(t.Context(), fileURL(path))
	_, requested := d.Request(t.Context(), c)
	_, looked := d.Queue(t.Context(), "m")
	for what, err := range map[string]error{
		"Open": opened, "Request": requested, "Release": d.Release(t.Context(), c), "Queue": looked,
	} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), fmt.Sprint("format ", found)) ||
			!strings.Contains(err.Error(), "same version") {
			t.Errorf("%s: %v; want a refusal that says which format it is and what to do", what, err)
		}
	}
	if n := count(t, path, "SELECT count(*) FROM holdfast_claims"); n != 1 {
		t.Errorf("%d claims are left of 1", n)
	}
}
