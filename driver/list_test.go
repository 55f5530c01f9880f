package driver_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Pages are read as they are asked for, and not after an error or when nobody wants more.
func TestPages(t *testing.T) {
	errPlanned := errors.New("planned")
	pages := [][]string{{"a", "b"}, {}, {"c"}}
	for want, row := range map[int]struct {
		enough string // after which nobody wants more
		fails  int    // the page that cannot be read
	}{3: {fails: 3}, 2: {fails: 1}, 1: {enough: "a", fails: 3}} {
		var got []string
		var failed error
		read := 0
		driver.Pages(func(name string, err error) bool {
			if failed = err; err == nil {
				got = append(got, name)
			}
			return name != row.enough
		}, func() ([]string, bool, error) {
			if read == row.fails {
				return []string{"none"}, true, errPlanned
			}
			read++
			return pages[read-1], read < len(pages), nil
		})
		if !slices.Equal(got, []string{"a", "b", "c"}[:want]) || (failed != nil) != (row.fails == 1) {
			t.Errorf("%+v: %q, %v", row, got, failed)
		}
		if row.enough != "" && read > 1 {
			t.Errorf("%+v: %d pages were read", row, read)
		}
	}
}
