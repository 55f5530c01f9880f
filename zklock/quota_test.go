package zklock_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// setQuota does what "setquota -N nodes -B bytes" of ZooKeeper's command line does; -1 is no bound.
func setQuota(t *testing.T, c *zk.Conn, path string, nodes, bytes int) {
	t.Helper()
	limits := fmt.Sprintf("count=-1,bytes=-1;byteHardLimit=%d;countHardLimit=%d", bytes, nodes)
	put(t, c, zk.FlagPersistent, "/zookeeper/quota"+path+"/zookeeper_limits", limits)
	put(t, c, zk.FlagPersistent, "/zookeeper/quota"+path+"/zookeeper_stats", "count=0,bytes=0")
}

// A quota is an answer, not an outage, and it keeps nobody from letting go.
func TestQuota(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t, "enforceQuota=true").Addr
	d, other := open(t, nil, addr), raw(t, addr)
	held := acquire(t, d, claim("held", long))
	for what, quota := range map[string][2]int{"nodes": {2, -1}, "bytes": {-1, 2}} {
		setQuota(t, other, "/holdfast", quota[0], quota[1])
		_, err := d.Request(limit(t), claim("another", long))
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("over the quota of %s: got %v, want a refusal", what, err)
		}
		acquire(t, d, held) // a renewal
		endQuota(t, other, "/holdfast")
	}
	setQuota(t, other, "/holdfast", -1, 2)
	release(t, d, held)
	endQuota(t, other, "/holdfast")
	acquire(t, d, claim("held", long))
}

// endQuota does what delquota does.
func endQuota(t *testing.T, c *zk.Conn, path string) {
	t.Helper()
	for _, node := range []string{"/zookeeper_limits", "/zookeeper_stats"} {
		if err := c.Delete("/zookeeper/quota"+path+node, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// What ZooKeeper does not remove by itself is removed on request: parents that are no containers, as on old servers.
func TestReap(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	held := acquire(t, d, claim("held", long))
	put(t, other, zk.FlagPersistent, "/holdfast/left%20over", "")
	if removed, err := d.Reap(limit(t), longest); err != nil || len(removed) != 0 {
		t.Errorf("nothing is old, and %v was removed; error %v", removed, err)
	}
	removed, err := d.Reap(limit(t), 0)
	if want := []driver.Leftover{{Kind: "empty queue", Name: "left over"}}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v, %v; want %v", removed, err, want)
	}
	release(t, d, held)
	if removed, err := d.Reap(limit(t), 0); err != nil || len(removed) != 1 || removed[0].Name != "held" {
		t.Errorf("after its release, removed %v, %v", removed, err)
	}
	acquire(t, d, claim("held", long))
}

// What is not ours is not removed, wherever it stands.
func TestReapLeavesWhatOthersHave(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	release(t, d, acquire(t, d, claim("ours", long)))
	put(t, other, zk.FlagPersistent, "/holdfast/config", "theirs")
	put(t, other, zk.FlagEphemeral, "/holdfast/alive", "")
	removed, err := d.Reap(limit(t), 0)
	if err != nil || len(removed) != 1 || removed[0].Name != "ours" {
		t.Errorf("removed %v, %v", removed, err)
	}
}

// Claims that the server does not let go of cost their client no other lock. They go with the last of those.
func TestRefusedRemoval(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	held := acquire(t, d, claim("held", short))
	for _, name := range []string{"stuck", "stuck too"} {
		acquire(t, d, held) // a renewal
		stuck := acquire(t, d, claim(name, short))
		enqueue(t, d, claim(name, short))
		node := "/holdfast/" + driver.EncodeName(name, 0)
		if _, err := other.SetACL(node, zk.WorldACL(zk.PermAll&^zk.PermDelete), -1); err != nil {
			t.Fatal(err)
		}
		if err := d.Release(limit(t), stuck); !errors.Is(err, driver.ErrRefused) {
			t.Fatalf("the release ends with %v", err)
		}
	}
	for began := time.Now(); time.Since(began) < 3*short; { // the others' time is over, and they are to be removed
		acquire(t, d, held)
	}
	release(t, d, held)
	next := open(t, nil, addr)
	take(t, next, claim("stuck", long))
	take(t, next, claim("stuck too", long))
}
