package zklock_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/zklock"
)

// A claim is granted without a watch on its node. Whoever listens to it afterwards learns what has happened before.
func TestListeningLate(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), open(t, nil, addr)
	for what, happen := range map[string]func(driver.Claim) error{
		"nothing":     func(driver.Claim) error { return nil },
		"revoked":     func(c driver.Claim) error { return other.Revoke(limit(t), c.Name, c.ID) },
		"broken":      func(c driver.Claim) error { return other.Break(limit(t), c.Name, c.ID) },
		"asked about": func(c driver.Claim) error { _, err := other.Queue(limit(t), c.Name); return err },
	} {
		c := acquire(t, d, claim(what, longest))
		if err := happen(c); err != nil {
			t.Fatal(err)
		}
		told := make(chan struct{}, 16)
		stop, err := d.Listen(limit(t), c, func() { told <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(told) > 0, what == "revoked" || what == "broken"; got != want {
			t.Errorf("%s: told is %v, want %v", what, got, want)
		}
		stop()
	}
}

// Where a client may not write to the node of a queue, or that may have data of others, it reads who is there.
func TestQueuesThatAreNotWritten(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	conn := raw(t, addr)
	for name, c := range map[string]struct {
		opts *zklock.Options
		at   string
		acl  int32
	}{
		"its ACL forbids it":     {nil, "/holdfast/job", zk.PermAll &^ zk.PermWrite},
		"no prefix":              {&zklock.Options{Chroot: "/app", Prefix: "/"}, "/app/job", zk.PermAll},
		"of Curator's layout":    {&zklock.Options{Layout: zklock.Curator}, "/job", zk.PermAll},
		"of kazoo's layout":      {&zklock.Options{Layout: zklock.Kazoo, Prefix: "k"}, "/k/job", zk.PermAll},
		"below a chroot, before": {&zklock.Options{Layout: zklock.Curator, Chroot: "/c"}, "/c/job", zk.PermAll},
	} {
		put(t, conn, zk.FlagPersistent, c.at, "data of others")
		if _, err := conn.SetACL(c.at, zk.WorldACL(c.acl), -1); err != nil {
			t.Fatal(err)
		}
		d := open(t, c.opts, addr)
		held := acquire(t, d, claim("job", longest))
		enqueue(t, d, claim("job", longest))
		release(t, d, held)
		if data, _, err := conn.Get(c.at); err != nil || string(data) != "data of others" {
			t.Errorf("%s: the data of the queue's node is %q, %v", name, data, err)
		}
	}
}
