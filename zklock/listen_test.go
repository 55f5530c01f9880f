package zklock_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/zklock"
)

// Leases whose contexts are used cost no goroutine each, and each learns of its end.
func TestLeasesWithoutGoroutines(t *testing.T) {
	server := zklock.Server(t)
	client, other := holdfast.New(open(t, nil, server.Addr)), open(t, nil, server.Addr)
	lock := func(i int) *holdfast.Lease {
		l, err := client.Mutex(fmt.Sprint("job ", i), holdfast.WithTTL(longest)).Lock(limit(t))
		if err != nil {
			t.Fatal(err)
		}
		l.Revoked()
		return l
	}
	first := lock(-1)
	defer first.Release(limit(t))
	const leases = 200
	before := bubble.Goroutines()
	all := make([]*holdfast.Lease, leases)
	for i := range all {
		all[i] = lock(i)
	}
	if more := bubble.Goroutines() - before; more > leases/4 {
		t.Errorf("%d leases cost %d goroutines", leases, more)
	}
	for i, l := range all {
		queue, err := other.Queue(limit(t), fmt.Sprint("job ", i))
		if err != nil || len(queue) != 1 {
			t.Fatal(queue, err)
		}
		if i%2 == 0 {
			err = other.Break(limit(t), queue[0].Name, queue[0].ID)
		} else {
			err = other.Revoke(limit(t), queue[0].Name, queue[0].ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := l.Done()
		if i%2 != 0 {
			ended = l.Revoked()
		}
		select {
		case <-ended:
		case <-limit(t).Done():
			t.Fatalf("lease %d hears nothing", i)
		}
	}
}
