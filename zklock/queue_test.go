package zklock_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// What is no claim is no claim, whatever it looks like; what other clients queue is one.
func TestStrangers(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	for _, junk := range []string{
		"lost+found", "lock-", "lock-0000000000", "-lock-0000000000", "_c_-lock-0000000000", "_c_x-lock-0000000000",
		"_c_0123456789abcdef0123456789abcde-lock-0000000000", "_c_0123456789ABCDEF0123456789ABCDEF-lock-0000000000",
		"_c_0123456789abcdef0123456789abcdef-lock-00000", "_c_0123456789abcdef0123456789abcdef-lock-99999999999",
		"_c_0123456789abcdef0123456789abcdef-lock-000000000x", "__lock__0000000000", "x__lock__0000000000",
		"_c_id.hx.1.1.1000-lock-0000000000", "_c_id.h1.one.1.1000-lock-0000000000", "latch-0000000000",
	} {
		put(t, other, zk.FlagPersistent, "/holdfast/job/"+junk, "junk")
	}
	release(t, d, acquire(t, d, claim("job", long)))

	const hex, uuid = "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"
	for _, peer := range []string{
		"_c_" + hex + "-lock-", "_c_" + uuid + "-lock-", "_c_" + uuid + "-__WRIT__", "_c_" + uuid + "-__READ__",
		hex + "__lock__", hex + "__rlock__",
	} {
		made := put(t, other, zk.FlagEphemeralSequential, "/holdfast/job/"+peer, "a peer")
		waiting := enqueue(t, d, claim("job", long))
		queue, err := d.Queue(limit(t), "job")
		if err != nil || len(queue) != 2 || !queue[0].Granted ||
			!strings.HasSuffix(made, "/"+queue[0].ID) || queue[0].Owner != "a peer" {
			t.Errorf("%s: the queue is %+v, %v", peer, queue, err)
		}
		if err := other.Delete(made, -1); err != nil {
			t.Fatal(err)
		}
		mustBeGranted(t, d, waiting)
		release(t, d, waiting)
	}
}

// The claims of peers are ended like others.
func TestBreakingAPeer(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	made := put(t, other, zk.FlagEphemeralSequential, "/holdfast/job/_c_0123456789abcdef0123456789abcdef-lock-", "")
	waiting := enqueue(t, d, claim("job", long))
	if err := d.Break(limit(t), "job", made[strings.LastIndexByte(made, '/')+1:]); err != nil {
		t.Errorf("Break: %v", err)
	}
	mustBeGranted(t, d, waiting)
}

// Readers and writers of Curator and ours go by one queue.
func TestReadersOfBothKinds(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, &zklock.Options{Layout: zklock.Curator}, addr), raw(t, addr)
	const theirs = "/doc/_c_01234567-89ab-cdef-0123-456789abcdef-"
	reader := put(t, other, zk.FlagEphemeralSequential, theirs+"__READ__", "")
	ours := acquire(t, d, units("doc", 1, driver.All))
	writer := enqueue(t, d, units("doc", driver.All, driver.All))
	last := enqueue(t, d, units("doc", 1, driver.All))
	nodes, _, err := other.Children("/doc")
	for _, c := range []struct {
		driver.Claim
		word string
	}{{ours, "-__READ__"}, {writer, "-__WRIT__"}, {last, "-__READ__"}} {
		is := func(n string) bool { return strings.HasPrefix(n, "_c_"+c.ID) && strings.Contains(n, c.word) }
		if !slices.ContainsFunc(nodes, is) {
			t.Errorf("no node of %s with %s among %q, %v", c.ID, c.word, nodes, err)
		}
	}
	if err := other.Delete(reader, -1); err != nil {
		t.Fatal(err)
	}
	release(t, d, ours)
	mustBeGranted(t, d, writer)
	put(t, other, zk.FlagEphemeralSequential, theirs+"__WRIT__", "")
	release(t, d, writer)
	mustBeGranted(t, d, last)
	enqueue(t, d, units("doc", 1, driver.All))
}

// A writer of Curator that goes on as a reader has a second node with the number of its first. The end of the first
// grants nothing to who waits for it.
func TestWriterOfCuratorGoesOnReading(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, &zklock.Options{Layout: zklock.Curator}, addr), raw(t, addr)
	writer := put(t, other, zk.FlagEphemeralSequential, "/doc/_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__", "")
	waiting := enqueue(t, d, units("doc", driver.All, driver.All))
	ctx, cancel := context.WithTimeout(t.Context(), long*3/4) // nothing is renewed
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- granted(ctx, d, waiting) }() // ends when it is granted
	driver.Sleep(ctx, 300*time.Millisecond)         // it waits
	number := writer[len(writer)-len("0000000000"):]
	reader := put(t, other, zk.FlagEphemeral, "/doc/_c_89abcdef-89ab-cdef-0123-456789abcdef-__READ__"+number, "")
	if err := other.Delete(writer, -1); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-got:
		t.Fatalf("we may write while Curator reads, error %v", err)
	case <-time.After(300 * time.Millisecond): // it would know by now
	}
	if err := other.Delete(reader, -1); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("waiting for the reader: %v", err)
	}
	release(t, d, waiting)
}

// Who asks a holder of ours to let go as Curator's Revoker does is seen, and ours ask in that way.
func TestRevocationOfCurator(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	held := acquire(t, d, claim("job", long))
	heard := leasedtest.Heard(t, d, held)
	nodes, _, err := other.Children("/holdfast/job")
	if err != nil || len(nodes) != 1 {
		t.Fatalf("the queue has %q, %v", nodes, err)
	}
	if _, err := other.Set("/holdfast/job/"+nodes[0], []byte("__REVOKE__"), -1); err != nil {
		t.Fatal(err)
	}
	<-heard
	if _, st := request(t, d, held); !st.Revoked || !st.Granted {
		t.Errorf("after it was asked to let go: %+v", st)
	}
	release(t, d, held)

	const node = "/holdfast/job/_c_01234567-89ab-cdef-0123-456789abcdef-lock-"
	theirs := put(t, other, zk.FlagEphemeralSequential, node, "")
	if err := d.Revoke(limit(t), "job", theirs[strings.LastIndexByte(theirs, '/')+1:]); err != nil {
		t.Errorf("Revoke: %v", err)
	}
	if data, _, err := other.Get(theirs); string(data) != "__REVOKE__" {
		t.Errorf("the node of the holder has %q, %v", data, err)
	}
}

// Nothing stays behind for ever: notes are swept, or end with the session, and ZooKeeper removes parents without
// children.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t, "-Dznode.container.checkIntervalMs=200").Addr
	d, other := open(t, nil, addr), raw(t, addr)
	const ttl = 5 * time.Second
	release(t, d, acquire(t, d, claim("job", ttl)))
	keeper := acquire(t, d, claim("keeps the session", ttl))
	children := func(path string) []string {
		t.Helper()
		acquire(t, d, keeper)
		names, _, err := other.Children(path)
		if err != nil && err != zk.ErrNoNode {
			t.Fatal(err)
		}
		return names
	}
	until(t, "the note is swept", func() bool { return len(children("/holdfast/.claims")) == 1 })
	until(t, "the queue is removed", func() bool { return !slices.Contains(children("/holdfast"), "job") })
	release(t, d, acquire(t, d, claim("job", ttl))) // and made again
	d.Close()
	until(t, "all is removed", func() bool {
		there, _, err := other.Exists("/holdfast")
		return err == nil && !there
	})
}

// A claim leaves after a waiting one has looked, and before somebody else in the same client begins to watch the
// queue: the watch that they share tells neither.
func TestWatchThatSomebodyElseBegan(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, other, units("pool", 1, 3))
	acquire(t, other, units("pool", 1, 3))
	c := enqueue(t, d, units("pool", 2, 3))
	release(t, other, held)
	watching, stop := context.WithCancel(t.Context())
	var observer sync.WaitGroup
	observer.Go(func() { d.Watch(watching, "pool") })
	defer observer.Wait()
	defer stop()
	driver.Sleep(watching, 300*time.Millisecond)              // it watches
	ctx, cancel := context.WithTimeout(t.Context(), long*3/4) // nothing is renewed
	defer cancel()
	if err := granted(ctx, d, c); err != nil {
		t.Errorf("waiting without a renewal: %v", err)
	}
}

// Who waits for the note of a claim that somebody has deleted waits for another sign of its end, and asks for nothing
// meanwhile.
func TestNoteOfAWaiterIsDeleted(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t).Addr
	p, other := proxy.New(t, server), raw(t, server)
	d := open(t, nil, server)
	a, b := acquire(t, d, units("s", 1, 2)), acquire(t, d, units("s", 1, 2))
	c := enqueue(t, d, units("s", 1, 2))
	behind := open(t, nil, p.Addr)
	last := enqueue(t, behind, units("s", 1, 2))
	notes, _, err := other.Children("/holdfast/.claims")
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		if strings.HasPrefix(note, c.ID+".") {
			if err := other.Delete("/holdfast/.claims/"+note, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := p.Answered()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if st, err := behind.Wait(ctx, last); err == nil {
		t.Errorf("the last is told %+v", st)
	}
	if n := p.Answered() - before; n > 16<<10 {
		t.Errorf("%d bytes of answers in a second in which nothing happened", n)
	}
	release(t, d, a)
	release(t, d, c)
	if err := granted(limit(t), behind, last); err != nil {
		t.Error(err)
	}
	release(t, d, b)
}
