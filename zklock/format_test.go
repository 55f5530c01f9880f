package zklock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// While a fleet is updated, the new release works beside the old one, which refuses what it cannot read.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(zklock.ThisFormat+1)

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

func TestMuchNewerVersion(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t).Addr
	now, later := open(t, nil, addr), open(t, nil, addr).WithFormat(zklock.ThisFormat+2)
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
