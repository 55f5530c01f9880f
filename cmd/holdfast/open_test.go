package main

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// openedWith is the context with which "opens:" was opened.
var openedWith context.Context

func init() {
	driver.Register("stuck", func(ctx context.Context, _ *url.URL) (driver.Driver, error) {
		<-ctx.Done()
		return nil, errors.New("somebody is writing")
	})
	driver.Register("moody", func(ctx context.Context, u *url.URL) (driver.Driver, error) {
		switch {
		case u.RawQuery == "bogus":
			return nil, errors.New("unknown parameter")
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case u.RawQuery == "lacks":
			return nil, errors.ErrUnsupported
		default:
			return nil, errors.New("come back later")
		}
	})
	driver.Register("opens", func(ctx context.Context, _ *url.URL) (driver.Driver, error) {
		openedWith = ctx
		return memlock.New(), nil
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

// What is said after the server was asked is no fault of the URL, unless it is that this cannot be had there.
func TestWhoseFaultItIs(t *testing.T) {
	for url, want := range map[string]int{
		"moody://host":       exitUnavailable,
		"moody://host?lacks": exitUsage,
		"moody://host?bogus": exitUsage,
	} {
		_, err := openInTime(t.Context(), url)
		if e := notServed(url, err).(*exit); e.code != want {
			t.Errorf("%s: %v ends with %d, want %d", url, err, e.code, want)
		}
	}
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
