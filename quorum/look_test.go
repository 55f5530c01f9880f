package quorum_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/quorum"
)

// thrifty returns a node that counts how many places of a line are read from it.
func thrifty(p *part, read *atomic.Int64) driver.Driver {
	return batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
		r := pass(op)
		if strings.HasPrefix(op.Claim.Name, "~turn/") {
			read.Add(int64(len(r.Queue)))
		}
		return r
	})
}

// A holder learns that others wait without reading who: there may be thousands.
func TestHolderReadsNoLine(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var read atomic.Int64
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = thrifty(p, &read)
		}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
		held := acquire(t, d, claim("jobs"))
		const waiting = 50
		other := ps.client(t)
		for range waiting {
			if st, err := other.Request(context.Background(), claim("jobs")); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
		}
		read.Store(0)
		st, err := d.Request(context.Background(), held)
		if err != nil || !st.Contended {
			t.Errorf("renewed: %+v, %v; others wait", st, err)
		}
		if n := read.Load(); n == 0 || n > 6 {
			t.Errorf("it read %d places of lines with %d", n, waiting)
		}
	})
}
