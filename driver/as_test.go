package driver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A plain driver has no abilities, and does nothing.
type plain struct{}

func (plain) Do(context.Context, []driver.Op, func(int, driver.Result)) {}
func (plain) Subscribe(func(driver.Event)) (stop func())                { return func() {} }
func (plain) Traits() driver.Traits                                     { return driver.Traits{Backend: "plain"} }
func (plain) Close() error                                              { return nil }

// A reaper can reap, and says which one it is by its error.
type reaper struct {
	driver.Driver
	err error
}

func (r reaper) Reap(context.Context, time.Duration) ([]driver.Leftover, error) { return nil, r.err }

// A wrapper can be looked into, and has no abilities.
type wrapper struct{ driver.Driver }

func (w wrapper) Unwrap() driver.Driver { return w.Driver }

// An opaque driver hides what it wraps.
type opaque struct{ driver.Driver }

func TestAs(t *testing.T) {
	inner, outer := errors.New("inner"), errors.New("outer")
	for _, tt := range []struct {
		name string
		d    driver.Driver
		want error
	}{
		{"none", plain{}, nil},
		{"no driver at all", wrapper{}, nil},
		{"its own", reaper{plain{}, inner}, inner},
		{"through a wrapper", wrapper{reaper{plain{}, inner}}, inner},
		{"through many", wrapper{wrapper{wrapper{reaper{plain{}, inner}}}}, inner},
		{"the outermost wins", wrapper{reaper{wrapper{reaper{plain{}, inner}}, outer}}, outer},
		{"not through what hides it", wrapper{opaque{reaper{plain{}, inner}}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, ok := driver.As[driver.Reaper](tt.d); ok != (tt.want != nil) {
				t.Errorf("found: %v", ok)
			}
			if _, err := driver.Reap(t.Context(), tt.d, time.Hour); err != tt.want {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

// What a driver does not offer is an error that names it, and not a panic or a quiet nothing.
func TestUnsupported(t *testing.T) {
	ctx, d := t.Context(), plain{}
	list := func() error {
		for _, err := range driver.List(ctx, d, "") {
			return err
		}
		return nil
	}
	_, errCheck := driver.Check(ctx, d, false)
	_, errNotes := driver.Notes(ctx, d, "m")
	for what, err := range map[string]error{"List": list(), "Check": errCheck, "Notes": errNotes} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.HasPrefix(err.Error(), "plain: ") {
			t.Errorf("%s: got error %v, want one that wraps ErrUnsupported", what, err)
		}
	}
	if findings, err := driver.Check(ctx, d, true); len(findings) > 0 || err != nil {
		t.Errorf("in brief: %v, %v", findings, err)
	}
}

// Sleep ends with its context, and leaves no timer behind.
func TestSleepEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := driver.Sleep(ctx, time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Sleep ended after %v with %v", time.Since(began), err)
		}
	})
}
