package driver_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Each kind has its own function, and what has none is not supported.
func TestHandlers(t *testing.T) {
	var did driver.Kind
	traits := func() driver.Traits { return driver.Traits{Backend: "none"} }
	all := driver.Handlers{
		Traits: traits,
		Request: func(context.Context, driver.Claim) (st driver.Status, err error) {
			did = driver.OpRequest
			return st, nil
		},
		Release:  func(context.Context, driver.Claim) error { did = driver.OpRelease; return nil },
		Break:    func(context.Context, string, string) error { did = driver.OpBreak; return nil },
		Revoke:   func(context.Context, string, string) error { did = driver.OpRevoke; return nil },
		SetValue: func(context.Context, driver.Claim, driver.Value) error { did = driver.OpSetValue; return nil },
		Value:    func(context.Context, string) (v driver.Value, err error) { did = driver.OpValue; return v, nil },
		Queue: func(context.Context, string, int) ([]driver.Entry, error) {
			did = driver.OpQueue
			return make([]driver.Entry, 3), nil
		},
		Watch: func(context.Context, string) error { did = driver.OpWatch; return nil },
	}
	none := driver.Handlers{Traits: traits}
	for k := driver.OpRequest; k <= driver.OpLife; k++ {
		did = 0
		r := all.Do(t.Context(), driver.Op{Kind: k, Most: 2})
		if hasOne := k != driver.OpPropose && k != driver.OpLife; hasOne != (r.Err == nil) || hasOne != (did == k) {
			t.Errorf("%v: did %v, %v", k, did, r.Err)
		}
		if len(r.Queue) > 2 {
			t.Errorf("%v: %d entries; want no more than were asked for", k, len(r.Queue))
		}
		if r := none.Do(t.Context(), driver.Op{Kind: k}); !errors.Is(r.Err, errors.ErrUnsupported) {
			t.Errorf("%v without a function: %v", k, r.Err)
		}
	}
}
