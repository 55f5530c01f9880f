package advisory

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A panic of an SQL driver reaches the caller, and a claim that was granted is lost with its session.
func TestPanicReachesTheCaller(t *testing.T) {
	for before, after := range map[phase]phase{unknown: unknown, waiting: unknown, granted: over} {
		d := &Driver{claims: make(map[claimKey]*claim)}
		d.life, d.end = context.WithCancelCause(t.Context())
		c := driver.Claim{Name: "m", ID: "a", TTL: time.Minute}
		func() {
			defer func() {
				if p := recover(); p == nil {
					t.Error("the caller does not learn of the panic")
				}
			}()
			d.whileFree(t.Context(), c, func(_ context.Context, cl *claim) (driver.Status, error) {
				cl.phase = before
				panic("it fell")
			})
		}()
		var got phase
		_, err := d.whileFree(t.Context(), c, func(_ context.Context, cl *claim) (st driver.Status, _ error) {
			got = cl.phase
			return st, nil
		})
		if got != after || err != nil {
			t.Errorf("in phase %v, and after the panic in %v, %v", before, got, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
