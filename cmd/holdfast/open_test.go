package main

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// openedWith is the context with which "opens:" was opened.
var openedWith context.Context

func init() {
	driver.Register("stuck", func(ctx context.Context, _ *url.URL) (driver.Driver, error) {
		<-ctx.Done()
		return nil, errors.New("somebody is writing")
	})
	driver.Register("opens", func(ctx context.Context, _ *url.URL) (driver.Driver, error) {
		openedWith = ctx
		return nil, nil
	})
}

// A backend that cannot be opened is given up as one that cannot be reached, whatever its error is.
func TestBackendThatDoesNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := openInTime(t.Context(), "stuck://host")
		if took := time.Since(begin); took != openLimit || !isUnreachable(err) {
			t.Errorf("after %v: %v; want it unreachable after %v", took, err, openLimit)
		}
	})
}

// What a driver goes on with is not ended by the bound.
func TestOpenedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := openInTime(t.Context(), "opens://host"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * openLimit)
		if err := openedWith.Err(); err != nil {
			t.Error(err)
		}
	})
}
