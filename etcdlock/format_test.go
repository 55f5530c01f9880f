package etcdlock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// While a fleet is updated, the new release works beside the old one, which refuses what it cannot read.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+1)

	old := acquire(t, now, claim("job", long))
	waiting := enqueue(t, next, claim("job", long))
	_, err := now.Request(limit(t), claim("job", long))
	refused(t, "behind a newer record", err)
	_, err = now.Queue(limit(t), "job")
	refused(t, "listing newer records", err)

	queue, err := next.Queue(limit(t), "job")
	if err != nil || len(queue) != 2 {
		t.Errorf("the new release sees %+v, %v; the refused claim should be gone", queue, err)
	}
	release(t, now, old)
	mustBeGranted(t, next, waiting)
}

// The newer record is not the nearest ahead, so it is read only when the claim is in the queue already.
func TestNewerRecordFarAhead(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
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

func TestMuchNewerVersion(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	now, later := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+2)
	acquire(t, now, claim("job", long))
	_, err := later.Request(limit(t), claim("job", long))
	refused(t, "behind a record two versions older", err)
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format") {
		t.Errorf("%s: got %v, want a refusal that names the format", what, err)
	}
}
