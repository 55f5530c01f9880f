package etcdlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// fill raises the alarm that etcd raises when its store is full, and returns what ends it.
func fill(t *testing.T, admin *clientv3.Client) (disarm func()) {
	t.Helper()
	set := func(action pb.AlarmRequest_AlarmAction) {
		t.Helper()
		server := pb.NewMaintenanceClient(admin.ActiveConnection())
		if _, err := server.Alarm(limit(t), &pb.AlarmRequest{Action: action, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			t.Fatal(err)
		}
	}
	set(pb.AlarmRequest_ACTIVATE)
	return func() { set(pb.AlarmRequest_DEACTIVATE) }
}

// keepRenewing renews a claim until the test ends, so that its lease lives.
func keepRenewing(t *testing.T, d claimed.Driver, c driver.Claim) {
	t.Helper()
	leasedtest.Beside(t, func(ctx context.Context) {
		for driver.Sleep(ctx, c.TTL/4) == nil {
			if _, err := d.Request(ctx, c); err != nil && ctx.Err() == nil {
				t.Errorf("the claim beside: %v", err)
				return
			}
		}
	})
}

// Claims end in a store that is full, while the lease that they share with another one lives on.
func TestEndsInAFullStore(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	d, other := open(t, nil, addr), open(t, nil, addr)
	const ttl = 2 * time.Second
	keepRenewing(t, d, acquire(t, d, claim("beside", ttl)))
	released, broken := acquire(t, d, claim("released", ttl)), acquire(t, d, claim("broken", ttl))
	together := []driver.Op{{Kind: driver.OpRelease}, {Kind: driver.OpRelease}}
	for i, name := range []string{"one of two", "two of two"} {
		together[i].Claim = acquire(t, d, claim(name, ttl))
	}
	elsewhere := acquire(t, d, claim("released elsewhere", ttl))
	acquire(t, d, claim("expired", ttl))
	fill(t, dial(t, addr))
	release(t, d, released)
	release(t, other, elsewhere)
	d.Do(limit(t), together, func(i int, r driver.Result) {
		if r.Err != nil {
			t.Errorf("released with another: %v", r.Err)
		}
	})
	if err := other.Break(limit(t), "broken", broken.ID); err != nil {
		t.Errorf("Break: %v", err)
	}
	for _, name := range []string{"released", "released elsewhere", "one of two", "two of two", "broken", "expired"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the lease lives on
		defer cancel()
		for queue := []driver.Entry{{}}; len(queue) > 0; driver.Sleep(ctx, 20*time.Millisecond) {
			var err error
			if queue, err = other.Queue(limit(t), name); err != nil {
				t.Fatal(err)
			}
			if ctx.Err() != nil {
				t.Errorf("the claim that was %s is still in the queue", name)
				break
			}
		}
	}
	if err := other.Release(limit(t), elsewhere); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a second release answers %v, want ErrGone: there is no note of the first", err)
	}
}

// A claim that may yet be queued by a late request cannot be barred in a store that is full, but afterwards.
func TestBarredOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	d, admin := newLate(t, addr), dial(t, addr)
	const ttl = 2 * time.Second
	keepRenewing(t, d, acquire(t, d, claim("beside", ttl)))
	sent := d.arriveLate()
	c := claim("job", ttl)
	if _, err := d.Request(limit(t), c); err == nil {
		t.Fatal("the request was answered")
	}
	disarm := fill(t, admin)
	driver.Sleep(t.Context(), ttl+refusedPause/2)
	disarm()
	until(t, "the claim is barred", func() bool {
		tombstones, err := admin.Get(limit(t), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range tombstones.Kvs {
			if strings.Contains(string(kv.Key), c.ID) {
				return true
			}
		}
		return false
	})
	sent()
	if queue, err := d.Queue(limit(t), "job"); err != nil || len(queue) > 0 {
		t.Errorf("the queue is %+v, %v; want none", queue, err)
	}
}

// refusedPause is between two attempts to end a claim that the server refused.
const refusedPause = time.Second
