package quorum_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/quorum"
)

// Claims that somebody listens for take no goroutine each, and each is told of its end.
func TestListeningTakesNoGoroutines(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		const claims = 100
		held := make([]driver.Claim, claims)
		for i := range held {
			held[i] = acquire(t, d, claim(fmt.Sprint("job ", i)))
		}
		synctest.Wait()
		before := runtime.NumGoroutine()
		moved := make([]*atomic.Int64, claims)
		for i, c := range held {
			moved[i] = listen(t, d, c)
		}
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 0 {
			t.Errorf("listening for %d claims takes %d goroutines", claims, more)
		}
		for i, c := range held {
			if err := d.Break(context.Background(), c.Name, c.ID); err != nil {
				t.Fatal(err)
			}
			pass(50 * time.Millisecond)
			if moved[i].Load() == 0 {
				t.Errorf("nothing is told of the end of claim %d", i)
			}
		}
	})
}

// A node that was away when somebody began to listen tells when it is back.
func TestListeningOutlastsAnOutage(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		ps[0].hang()
		moved := listen(t, d, held)
		pass(time.Second)
		ps[0].goOn()
		pass(2 * time.Second)
		before := moved.Load()
		if err := ps[0].store.Break(context.Background(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if moved.Load() == before {
			t.Error("the node that came back tells nothing")
		}
	})
}

// What a stopped listener leaves behind is nothing: no node calls it later.
func TestListeningStops(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		var moved atomic.Int64
		stop, err := d.Listen(context.Background(), held, func() { moved.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		stop() // while the nodes are still being asked
		pass(time.Second)
		before := moved.Load()
		if err := d.Break(context.Background(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if moved.Load() != before {
			t.Error("who stopped listening is told")
		}
	})
}

// listen counts how often somebody who listens is told.
func listen(t *testing.T, d *quorum.Driver, c driver.Claim) *atomic.Int64 {
	t.Helper()
	var moved atomic.Int64
	stop, err := d.Listen(context.Background(), c, func() { moved.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return &moved
}

// Who gives up waiting while no node answers leaves nothing that goes on to watch.
func TestGivingUpInAnOutage(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		acquire(t, ps.client(t), claim("jobs"))
		d := ps.client(t)
		settle(t, d)
		before := runtime.NumGoroutine()
		c := claim("jobs")
		if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
			t.Fatalf("another has the lock: %+v, %v", st, err)
		}
		ps.each((*part).hang)
		for range 20 { // as the core does, for a TTL
			ctx, cancel := context.WithTimeout(t.Context(), ttl/20)
			_ = d.Release(ctx, c) // nobody answers
			cancel()
			pass(ttl / 20)
		}
		ps.each((*part).goOn)
		pass(4 * ttl)
		if more := runtime.NumGoroutine() - before; more > 0 {
			t.Errorf("%d goroutines more than before", more)
		}
	})
}
