package zklock

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// inside returns a driver for tests that look inside.
func inside(t testing.TB, addr string) *Driver {
	t.Helper()
	d, err := New([]string{addr}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func mutexClaim(name string, ttl time.Duration) driver.Claim {
	return driver.Claim{Name: name, ID: "c1", Weight: 1, Limit: 1, TTL: ttl, Queue: true}
}

// The claim is queued when its time has come already, and it is about to be taken out of the queue.
func TestQueuedAfterTheEnd(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	ctx, c := context.Background(), mutexClaim("job", 2*time.Second)
	s, err := d.sessionFor(ctx, c.TTL)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := d.claims.Enter(c, func() *claim { // it never leaves
		e := &claim{d: d, s: s, queue: d.keys.queue(c.Name), note: d.keys.note(c.Name, c.ID)}
		e.record = d.newRecord(c, s.ttl)
		e.Begin(c, 0, func() {}, nil)
		return e
	})
	for !e.IsLeaving() {
		runtime.Gosched() // its timer fires at once
	}
	if st, err := d.put(ctx, e, c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the answer is %+v, %v; want ErrGone", st, err)
	}
}
