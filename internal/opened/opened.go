// Package opened opens drivers and clients for tests.
package opened

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Driver opens the driver of a URL. It is closed with the test, and that must succeed.
func Driver(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	d := open(t, url)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// DriverBesideFaults is Driver for a backend that may not serve any more when the driver is closed.
func DriverBesideFaults(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	d := open(t, url)
	t.Cleanup(func() { d.Close() })
	return d
}

// patience is above what a busy machine takes.
const patience = 2 * time.Minute

// open opens again where there was no answer: a busy machine does not give one within the driver's own limits.
func open(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, err := drivertest.Open(ctx, url)
	for errors.Is(err, context.DeadlineExceeded) && driver.Sleep(ctx, 50*time.Millisecond) == nil {
		d, err = drivertest.Open(ctx, url)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Refused opens URLs that begin alike and end differently. Each must fail with an error that has a text, and does not
// have the password, if that has the word secret in it.
func Refused(t testing.TB, begin string, ends map[string]string) {
	t.Helper()
	for end, want := range ends {
		d, err := driver.Open(t.Context(), begin+end)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want an error with %q and without the password", begin+end, err, want)
		}
		if d != nil {
			d.Close()
		}
	}
}

// closeTime bounds how long a client may take to be closed.
const closeTime = 10 * time.Second

// ClientBesideFaults opens the client of a URL. It is closed with the test, and what it cannot release then is left.
func ClientBesideFaults(t testing.TB, url string, opts ...holdfast.Option) *holdfast.Client {
	t.Helper()
	c, err := holdfast.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		c.Close(ctx) // what a fault left behind is not this test's matter
	})
	return c
}
