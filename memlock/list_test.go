package memlock_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A list that ends with its context says so: it is no shorter list.
func TestListSaysThatItIsCutShort(t *testing.T) {
	d := open()
	request(t, d, mutex("a"), true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range driver.List(ctx, d, "") {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("%v, want one error that says that the context has ended", errs)
	}
}
