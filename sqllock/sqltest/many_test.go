package sqltest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// To renew many that share a lock takes as long as to renew many that have a lock each. They are renewed together, and
// if each of them looked at all others, that would take longer than a renewal may, and hold up everybody.
func TestManyShare(t *testing.T) {
	d := open(t, filepath.Join(memoryFolder(t), "locks.db"))
	var apart, sharing []driver.Claim
	for i := range 200 {
		apart = append(apart, claimed.Acquire(t, d, mutex(fmt.Sprint(i))))
		sharing = append(sharing, claimed.Acquire(t, d, reader("m")))
	}
	usual, took := renewing(t, d, apart), renewing(t, d, sharing)
	t.Logf("%v, and %v where they share a lock", usual, took)
	if took > 5*usual {
		t.Errorf("a batch of renewals took %v, and %v where all share a lock", usual, took)
	}
}

// renewing returns how long it takes to renew claims together, at best.
func renewing(t *testing.T, d driver.Driver, claims []driver.Claim) time.Duration {
	t.Helper()
	best := patience
	for range 3 {
		begin := time.Now()
		results, err := driver.Renew(t.Context(), d, claims)
		best = min(best, time.Since(begin))
		for _, r := range results {
			if r.Err != nil || !r.Status.Granted {
				t.Fatalf("a renewal: %+v", r)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return best
}
