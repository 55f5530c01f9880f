package etcdlock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/interop"
	"github.com/holdfast-go/holdfast/internal/servers"
)

var foreign = &etcdlock.Options{Layout: etcdlock.Concurrency}

var (
	ours             = interop.Self("ours", "ours")
	concurrencyMutex = interop.Self("concurrency.Mutex", "concurrency.Mutex")
	etcdctlLock      = interop.Self("etcdctl lock", "etcdctl lock")
)

// Two processes of ours and two of each peer's share a lock: never two are inside, and nobody starves.
func TestBesidePeers(t *testing.T) {
	t.Parallel()
	for _, peer := range []interop.Program{concurrencyMutex, etcdctlLock} {
		t.Run(peer.Name, func(t *testing.T) {
			t.Parallel()
			args := []string{server(t).Addr, "jobs/nightly"}
			us := interop.Client{Program: ours, Args: args}
			them := interop.Client{Program: peer, Args: args}
			for _, w := range interop.Contend(t, interop.Writing, interop.MinVisits, us, them) {
				t.Error(w)
			}
		})
	}
}

// TestPeer is a process that the tests of others start.
func TestPeer(t *testing.T) {
	kind, args := interop.Kind(t)
	addr, name := args[0], args[1]
	switch kind {
	case ours.Name:
		interop.RunPeer(t, oursAt(t, addr, name), nil)
	case concurrencyMutex.Name:
		interop.RunPeer(t, theirsAt(t, addr, name), nil)
	case etcdctlLock.Name:
		interop.RunPeer(t, etcdctlAt(t, addr, name), nil)
	default:
		t.Fatalf("there is no peer %q", kind)
	}
}

func oursAt(t *testing.T, addr, name string) interop.Guard {
	c := holdfast.New(open(t, foreign, addr))
	t.Cleanup(func() { c.Close(context.Background()) })
	m := c.Mutex(name, holdfast.WithLocalHandoff(0))
	return func(ctx context.Context, f func()) error {
		return m.Do(ctx, func(context.Context, *holdfast.Lease) error { f(); return nil })
	}
}

func theirsAt(t *testing.T, addr, name string) interop.Guard {
	session := peerSession(t, addr)
	return func(ctx context.Context, f func()) error {
		m := concurrency.NewMutex(session, name)
		if err := m.Lock(ctx); err != nil {
			return err
		}
		f()
		return m.Unlock(context.Background())
	}
}

// etcdctlAt holds the lock with the command, from when it prints its key until it is told to let go.
func etcdctlAt(t *testing.T, addr, name string) interop.Guard {
	one := []*servers.Server{{Addr: addr}}
	return func(_ context.Context, f func()) error {
		cmd := servers.Etcdctl(t, one, "lock", name)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return err
		}
		key, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && !strings.HasPrefix(key, name+"/") {
			err = fmt.Errorf("etcdctl lock says %q", key)
		}
		if err == nil {
			f()
		}
		return errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
	}
}

// A peer's key counts as a claim of the whole lock, whatever kind of lock ours is.
func TestPeersBlockReaders(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	session := peerSession(t, addr)
	peer := concurrency.NewMutex(session, "shared")
	if err := peer.Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d := open(t, foreign, addr)
	reader := enqueue(t, d, units("shared", 1, 5))
	queue, err := d.Queue(limit(t), "shared")
	if err != nil || len(queue) != 2 || !queue[0].Granted || queue[1].Granted {
		t.Fatalf("the queue is %+v, %v; want the peer and then ours", queue, err)
	}
	if !queue[0].Since.IsZero() || time.Since(queue[1].Since) > time.Hour {
		t.Errorf("the peer's is since %v, ours since %v; want that of ours alone", queue[0].Since, queue[1].Since)
	}
	if err := peer.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	mustBeGranted(t, d, reader)
}

// A peer whose client has a namespace and ours with that as the prefix exclude each other.
func TestPeerInANamespace(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	client := dial(t, addr)
	client.KV = namespace.NewKV(client.KV, "ours/")
	client.Watcher = namespace.NewWatcher(client.Watcher, "ours/")
	client.Lease = namespace.NewLease(client.Lease, "ours/")
	session, err := concurrency.NewSession(client)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	peer := concurrency.NewMutex(session, "job")
	if err := peer.Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d := open(t, &etcdlock.Options{Layout: etcdlock.Concurrency, Prefix: "ours/"}, addr)
	ours := enqueue(t, d, claim("job", long))
	if err := peer.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	mustBeGranted(t, d, ours)
	if err := peer.TryLock(limit(t)); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("while ours has the lock, the peer is told %v", err)
	}
}

// The peers' own weakness remains on their side: theirs waits for a lock nested in its name. Ours does not.
func TestNestedNamesOfPeers(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	session := peerSession(t, addr)
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

// Candidates of an election below the name of a lock are no claims on it, whatever they propose.
func TestElectionBelowALock(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, foreign, addr)
	for name, proposal := range map[string]string{
		"none": "", "text": "host:1", "number": "7", "object": `{"host":"h","port":1}`, "version": `{"v":1,"host":"h"}`,
		"later": `{"v":2,"host":"h"}`, "other": `{"v":2,"weight":"heavy"}`,
	} {
		election := concurrency.NewElection(peerSession(t, addr), name+"/leader")
		if err := election.Campaign(limit(t), proposal); err != nil {
			t.Fatal(err)
		}
		acquire(t, d, claim(name, long))
	}
}

// A peer locks again with the key that it had before. Where the server that is listened to lags, and so tells of the
// end of the earlier lock only now, ours goes on waiting.
func TestPeerLocksAgain(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	peer := concurrency.NewMutex(peerSession(t, addr), "job")
	if err := peer.Lock(limit(t)); err != nil {
		t.Fatal(err)
	}
	d, before := open(t, foreign, addr), peer.Header().Revision
	d.WatchThrough(func(w clientv3.Watcher) clientv3.Watcher { return lagging{w, before} })
	if err := errors.Join(peer.Unlock(limit(t)), peer.Lock(limit(t))); err != nil {
		t.Fatal(err)
	}
	ours := enqueue(t, d, claim("job", long))
	ctx, cancel := context.WithTimeout(limit(t), short)
	defer cancel()
	if answer := <-inBackground(ctx, d, ours); !errors.Is(answer.Err, context.DeadlineExceeded) {
		t.Fatalf("while the peer has the lock, ours is told %+v", answer)
	}
	if err := peer.Unlock(limit(t)); err != nil {
		t.Fatal(err)
	}
	mustBeGranted(t, d, ours)
}

// lagging listens to a server that has got no further than this revision when a watch begins.
type lagging struct {
	clientv3.Watcher
	at int64
}

func (l lagging) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	late := make(chan clientv3.WatchResponse)
	go func() {
		defer close(late)
		for r := range l.Watcher.Watch(ctx, key, append(opts, clientv3.WithRev(l.at+1))...) {
			if r.Created {
				r.Header.Revision = l.at
			}
			select {
			case late <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	return late
}

// A note of who has broken a lock keeps no peer from a lock with the beginning of its name.
func TestNoteBelowAPeersLock(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, foreign, addr)
	broken := acquire(t, d, claim("a/b", long))
	note := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: broken.ID, By: "somebody"}
	if err := errors.Join(d.Break(limit(t), "a/b", broken.ID), driver.AddNote(limit(t), d, "a/b", note)); err != nil {
		t.Fatal(err)
	}
	if err := concurrency.NewMutex(peerSession(t, addr), "a").TryLock(limit(t)); err != nil {
		t.Errorf("nobody has a lock, and the peer is told: %v", err)
	}
	if notes, err := driver.Notes(limit(t), d, "a/b"); err != nil || len(notes) != 1 || notes[0].By != note.By {
		t.Errorf("the notes are %+v, %v", notes, err)
	}
	for name, err := range driver.List(limit(t), d, "") {
		if name != "a" || err != nil {
			t.Errorf("%q is listed, %v", name, err)
		}
	}
}

func TestBreakAPeer(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	session := peerSession(t, addr)
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

// peerSession is a session of the peers' library, which ends with the test.
func peerSession(t testing.TB, addr string) *concurrency.Session {
	t.Helper()
	session, err := concurrency.NewSession(dial(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}
