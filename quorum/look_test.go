package quorum_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/quorum"
)

// A thrifty node counts how many places of a line were read.
type thrifty struct {
	*part
	read *atomic.Int64
}

func (n thrifty) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return n.Peek(ctx, name, driver.All)
}

func (n thrifty) Peek(ctx context.Context, name string, most int) ([]driver.Entry, error) {
	queue, err := driver.Peek(ctx, n.part.store, name, most)
	if strings.HasPrefix(name, "~turn/") {
		n.read.Add(int64(len(queue)))
	}
	return queue, err
}

// A holder learns that others wait without reading who: there may be thousands.
func TestHolderReadsNoLine(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var read atomic.Int64
		nodes := make([]driver.Either, len(ps))
		for i, p := range ps {
			nodes[i] = thrifty{p, &read}
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
