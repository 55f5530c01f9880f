package leasedtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// Turns has several wait for units of which only the sum matters: a waiting claim learns from the one ahead that
// its turn has come. No renewal helps here.
func Turns(t *testing.T, e Engine) {
	addr := e.Server(t)
	const permits, waiters = 2, 6
	one := func() driver.Claim { return Units("pool", 1, permits) }
	holder := e.Open(t, addr)
	held := []driver.Claim{claimed.Acquire(t, holder, one()), claimed.Acquire(t, holder, one())}
	drivers, claims := make([]driver.Driver, waiters), make([]driver.Claim, waiters)
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

// TwoVersions has the next release work beside this one, as while a fleet is updated. This one refuses what it
// cannot read.
func TwoVersions(t *testing.T, e Engine) {
	addr := e.Server(t)
	now, next := e.Open(t, addr), e.Format(t, addr, 1)

	old := claimed.Acquire(t, now, claimed.Mutex("job", Long))
	waiting := claimed.Enqueue(t, next, claimed.Mutex("job", Long))
	claimed.Request(t, now, old) // its holder need not read who waits behind it
	_, err := now.Request(Limit(t), claimed.Mutex("job", Long))
	Refused(t, "behind a newer record", err)
	_, err = now.Queue(Limit(t), "job")
	Refused(t, "listing newer records", err)

	queue, err := next.Queue(Limit(t), "job")
	if err != nil || len(queue) != 2 {
		t.Errorf("the new release sees %+v, %v; the refused claim should be gone", queue, err)
	}
	claimed.Release(t, now, old)
	MustBeGranted(t, next, waiting)
}

// MuchNewerVersion has a later release refuse what is older than the release before it.
func MuchNewerVersion(t *testing.T, e Engine) {
	addr := e.Server(t)
	claimed.Acquire(t, e.Open(t, addr), claimed.Mutex("job", Long))
	_, err := e.Format(t, addr, 2).Request(Limit(t), claimed.Mutex("job", Long))
	Refused(t, "behind a record two versions older", err)
}

// Refused fails unless this is a refusal that names the format.
func Refused(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format") {
		t.Errorf("%s: got %v, want a refusal that names the format", what, err)
	}
}
