package leasedtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// turns has several wait for units of which only the sum matters: a waiting claim learns from the one ahead that
// its turn has come. No renewal helps here.
func turns(t *testing.T, e Engine) {
	addr := e.Server(t)
	const permits, waiters = 2, 6
	one := func() driver.Claim { return Units("pool", 1, permits) }
	holder := e.Open(t, addr)
	held := []driver.Claim{claimed.Acquire(t, holder, one()), claimed.Acquire(t, holder, one())}
	drivers, claims := make([]claimed.Driver, waiters), make([]driver.Claim, waiters)
	got := make([]chan error, waiters)
	for i := range waiters {
		drivers[i] = e.Open(t, addr)
		claims[i] = claimed.Enqueue(t, drivers[i], one())
		got[i] = make(chan error, 1)
		go func() { got[i] <- Granted(Limit(t), drivers[i], claims[i]) }() // ends when it is granted
	}
	for i := range waiters {
		if i < permits {
			claimed.Release(t, holder, held[i])
		} else {
			claimed.Release(t, drivers[i-permits], claims[i-permits])
		}
		if err := <-got[i]; err != nil {
			t.Fatalf("waiter %d: %v", i, err)
		}
	}
}

// otherVersion has a program of another version meet the records of this one: it refuses to judge them, says so, and
// leaves nothing behind.
func otherVersion(t *testing.T, e Engine) {
	addr := e.Server(t)
	now := e.Open(t, addr)
	held := claimed.Acquire(t, now, claimed.Mutex("job", Long))
	for _, later := range []int{-1, 1} {
		other := e.Format(t, addr, later)
		_, err := other.Request(Limit(t), claimed.Mutex("job", Long))
		Refused(t, "behind a record of another format", err)
		_, err = other.Queue(Limit(t), "job")
		Refused(t, "listing records of another format", err)
	}
	queue, err := now.Queue(Limit(t), "job")
	if err != nil || len(queue) != 1 {
		t.Errorf("the queue is %+v, %v; the refused claims should be gone", queue, err)
	}
	claimed.Request(t, now, held)
	claimed.Release(t, now, held)
}

// Refused fails unless this is a refusal that names the format.
func Refused(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format") {
		t.Errorf("%s: got %v, want a refusal that names the format", what, err)
	}
}
