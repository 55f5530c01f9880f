package etcdlock_test

import (
	"bufio"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// together is how long two of ours and two of theirs share a lock.
func together() time.Duration {
	if soak() {
		return time.Minute
	}
	return 2 * time.Second
}

var foreign = &etcdlock.Options{Layout: etcdlock.Concurrency}

// compete lets two clients of ours enter the room until ctx ends.
func compete(t *testing.T, ctx context.Context, r *room, addr, name string) {
	each(2, func(i int) {
		c := holdfast.New(open(t, foreign, addr))
		defer c.Close(context.Background())
		m := c.Mutex(name, holdfast.WithLocalHandoff(0))
		for ctx.Err() == nil {
			err := m.Do(ctx, func(context.Context, *holdfast.Lease) error {
				r.visit(numbered("ours", 2)[i])
				return nil
			})
			if err != nil && ctx.Err() == nil {
				t.Errorf("ours: %v", err)
				return
			}
		}
	})
}

func TestBesideConcurrencyMutex(t *testing.T) {
	t.Parallel()
	const name = "jobs/nightly"
	addr := servers.Etcd(t).Addr
	ctx, cancel := context.WithTimeout(t.Context(), together())
	defer cancel()
	var r room
	theirs := func(i int) {
		session, err := concurrency.NewSession(dial(t, addr))
		if err != nil {
			t.Error(err)
			return
		}
		defer session.Close()
		for ctx.Err() == nil {
			m := concurrency.NewMutex(session, name)
			if err := m.Lock(ctx); err != nil {
				continue // the time is over
			}
			r.visit(numbered("theirs", 2)[i])
			if err := m.Unlock(context.Background()); err != nil {
				t.Errorf("theirs: %v", err)
			}
		}
	}
	each(2, func(side int) {
		if side == 0 {
			compete(t, ctx, &r, addr, name)
		} else {
			each(2, theirs)
		}
	})
	r.judge(t, 5, slices.Concat(numbered("ours", 2), numbered("theirs", 2))...)
}

func TestBesideEtcdctlLock(t *testing.T) {
	t.Parallel()
	const name = "jobs/nightly"
	one := []*servers.Server{servers.Etcd(t)}
	ctx, cancel := context.WithTimeout(t.Context(), together())
	defer cancel()
	var r room
	each(2, func(side int) {
		if side == 0 {
			compete(t, ctx, &r, one[0].Addr, name)
			return
		}
		each(2, func(i int) {
			for ctx.Err() == nil {
				etcdctlVisit(t, one, &r, name, numbered("etcdctl", 2)[i])
			}
		})
	})
	r.judge(t, 3, slices.Concat(numbered("ours", 2), numbered("etcdctl", 2))...)
}

// etcdctlVisit holds the lock with the command, from when it prints its key until it is told to let go.
func etcdctlVisit(t *testing.T, cluster []*servers.Server, r *room, name, who string) {
	cmd := servers.Etcdctl(t, cluster, "lock", name)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	if key, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(key, name+"/") {
		t.Errorf("etcdctl lock says %q, %v", key, err)
	} else {
		r.visit(who)
	}
	interrupt(t, cmd)
}

func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(interruptSignal); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("etcdctl lock: %v", err)
	}
}

// A peer's key counts as a claim of the whole lock, whatever kind of lock ours is.
func TestPeersBlockReaders(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	session, err := concurrency.NewSession(dial(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	peer := concurrency.NewMutex(session, "shared")
	if err := peer.Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d := open(t, foreign, addr)
	reader := enqueue(t, d, units("shared", 1, 5))
	queue, err := d.Queue(limit(t), "shared")
	if err != nil || len(queue) != 2 || !queue[0].Granted || queue[1].Granted {
		t.Errorf("the queue is %+v, %v; want the peer and then ours", queue, err)
	}
	if err := peer.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	mustBeGranted(t, d, reader)
}

// The peers' own weakness remains on their side: theirs waits for a lock nested in its name. Ours does not.
func TestNestedNamesOfPeers(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	session, err := concurrency.NewSession(dial(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := concurrency.NewMutex(session, "a/b").Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d := open(t, foreign, addr)
	acquire(t, d, claim("a", long))
	enqueue(t, d, claim("a/b", long))
	tried := claim("a/c", long)
	tried.Queue = false
	acquire(t, d, tried)
}

func TestBreakAPeer(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	session, err := concurrency.NewSession(dial(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := concurrency.NewMutex(session, "stuck").Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d := open(t, foreign, addr)
	ours := enqueue(t, d, claim("stuck", long))
	queue, err := d.Queue(limit(t), "stuck")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Break(limit(t), "stuck", queue[0].ID); err != nil {
		t.Fatalf("Break: %v", err)
	}
	mustBeGranted(t, d, ours)
}
