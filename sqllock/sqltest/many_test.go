package sqltest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// To renew many that share a lock takes about as much memory as to renew many that have a lock each. They are renewed
// together, and if each of them read all others, that would take longer than a renewal may, and hold up everybody.
func TestManyShare(t *testing.T) {
	d := open(t, filepath.Join(memoryFolder(t), "locks.db"))
	var apart, sharing []driver.Claim
	for i := range 200 {
		apart = append(apart, claimed.Acquire(t, d, mutex(fmt.Sprint(i))))
		sharing = append(sharing, claimed.Acquire(t, d, reader("m")))
	}
	usual, shared := claimed.Renewing(t, d, apart), claimed.Renewing(t, d, sharing)
	t.Logf("%d bytes, and %d where they share a lock", usual, shared)
	if shared > 3*usual {
		t.Errorf("a batch of renewals allocates %d bytes, and %d where all share a lock", usual, shared)
	}
}
