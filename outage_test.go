package holdfast_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The numbers that WithTTL and docs/guarantees.md give: a lease of the default TTL outlasts outages that are as short
// as the first two, whenever they begin, and none that is as long as the last.
func TestHowLongAnOutageMayLast(t *testing.T) {
	const (
		failing = 8300 * time.Millisecond
		hanging = 5800 * time.Millisecond
		longest = 14550 * time.Millisecond
	)
	refused := faults{refuse: errors.New("connection refused")}
	for name, row := range map[string]struct {
		outage   faults
		lasts    time.Duration
		outlasts bool
	}{
		"requests fail":             {refused, failing, true},
		"requests hang":             {faults{cut: true}, hanging, true},
		"requests fail for so long": {refused, longest, false},
		"requests hang for so long": {faults{cut: true}, longest, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for begin := time.Duration(0); begin < ttl/3; begin += 249 * time.Millisecond {
					l, a, _ := twoClients(t)
					lease := must(a.Mutex("m").Lock(t.Context()))(t)
					time.Sleep(begin)
					l.set(row.outage)
					time.Sleep(row.lasts)
					l.set(faults{})
					time.Sleep(ttl)
					if outlasts := lease.Err() == nil; outlasts != row.outlasts {
						t.Errorf("an outage of %v, %v after the first request: %v", row.lasts, begin, lease.Err())
					}
				}
			})
		})
	}
}
