package etcdlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
)

// The newer record is not the nearest ahead, so it is read only when the claim is in the queue already.
func TestNewerRecordFarAhead(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+1)
	first := acquire(t, now, units("rw", 1, driver.All))
	acquire(t, now, units("rw", 1, driver.All))
	if err := next.Revoke(limit(t), "rw", first.ID); err != nil { // writes the record anew
		t.Fatal(err)
	}
	_, err := now.Request(limit(t), units("rw", driver.All, driver.All))
	refused(t, "behind a newer record far ahead", err)
	if queue, err := next.Queue(limit(t), "rw"); err != nil || len(queue) != 2 {
		t.Errorf("the queue is %+v, %v; the refused claim should be gone", queue, err)
	}
}
