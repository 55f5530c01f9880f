package quorum_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// follow acquires a claim that is to be told of, and counts what is told of it.
func follow(t *testing.T, d *client, c driver.Claim) (held driver.Claim, told *atomic.Int64) {
	t.Helper()
	told = new(atomic.Int64)
	t.Cleanup(d.Subscribe(func(e driver.Event) {
		if e.ID == c.ID {
			told.Add(1)
		}
	}))
	r := d.op(t.Context(), driver.Op{Kind: driver.OpRequest, Claim: c, Follow: true})
	if r.Err != nil || !r.Status.Granted {
		t.Fatalf("%+v", r)
	}
	c.Token = r.Status.Token
	synctest.Wait()
	return c, told
}

// Claims that are followed take no goroutine each, granted or waiting, and each is told of its end.
func TestFollowingTakesNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, other := inMemory(t)
		const claims = 100
		synctest.Wait()
		before := bubble.Goroutines()
		held, told := make([]driver.Claim, claims), make([]*atomic.Int64, claims)
		for i := range held {
			held[i], told[i] = follow(t, d, claim(fmt.Sprint("job ", i)))
			for range 2 { // the first in line, and one behind it
				if st, err := other.Request(t.Context(), claim(held[i].Name)); err != nil || st.Granted {
					t.Fatalf("another has the lock: %+v, %v", st, err)
				}
			}
		}
		pass(time.Second)
		if more := bubble.Goroutines() - before; more > 0 {
			t.Errorf("%d claims that are held, and twice as many that wait, take %d goroutines", claims, more)
		}
		for i, c := range held {
			before := told[i].Load()
			if err := other.Break(t.Context(), c.Name, c.ID); err != nil {
				t.Fatal(err)
			}
			pass(50 * time.Millisecond)
			if told[i].Load() == before {
				t.Errorf("nothing is told of the end of claim %d", i)
			}
		}
	})
}

// inMemory makes two clients of a quorum of three stores, which tell of events without a goroutine.
func inMemory(t *testing.T) (a, b *client) {
	var nodes [2][]driver.Driver
	for range 3 {
		s := memlock.New()
		for i := range nodes {
			nodes[i] = append(nodes[i], old{s.Client()})
		}
	}
	opts := &quorum.Options{MaxTTL: ttl}
	return quorumOf(t, nodes[0], opts), quorumOf(t, nodes[1], opts)
}

// A node that was away when a claim came to be followed tells of it once it has been renewed there.
func TestFollowingOutlastsAnOutage(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ps[0].hang()
		held, told := follow(t, d, claim("jobs"))
		pass(time.Second)
		ps[0].goOn()
		pass(time.Second)
		for range 2 { // the first has the node asked for the claim that it lacks
			acquire(t, d, held)
			pass(time.Second)
		}
		before := told.Load()
		if err := ps[0].store.Break(context.Background(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if told.Load() == before {
			t.Error("the node that came back tells nothing")
		}
	})
}

// Of a claim that no request has said to follow nothing is told once it is granted.
func TestGrantedIsNotFollowed(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		acquire(t, d, held)
		if err := ps.client(t).Break(t.Context(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if d.forget(held.ID) {
			t.Error("something is told")
		}
	})
}

// A subscriber that no longer wants to know is not told.
func TestUnsubscribing(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		var told atomic.Int64
		stop := d.Subscribe(func(driver.Event) { told.Add(1) })
		held, others := follow(t, d, claim("jobs"))
		stop()
		if err := ps.client(t).Break(t.Context(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if told.Load() > 0 || others.Load() == 0 {
			t.Errorf("one who wants to know no more is told %d times, another one %d times", told.Load(), others.Load())
		}
	})
}

// Anything may have happened on a node that says so: all that it tells of is asked about.
func TestNodeThatMissedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, voices := withVoices(t)
		held, told := follow(t, d, claim("jobs"))
		waits := []driver.Claim{claim("jobs"), claim("jobs")} // the first in line, and one behind it
		for _, c := range waits {
			if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
		}
		var changes atomic.Int64
		defer d.Subscribe(func(e driver.Event) {
			if e == (driver.Event{Name: "other"}) {
				changes.Add(1)
			}
		})()
		if r := d.op(t.Context(), driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: "other"}}); r.Err != nil {
			t.Fatal(r.Err)
		}
		synctest.Wait()
		before := told.Load()
		for _, c := range waits {
			d.forget(c.ID)
		}
		for _, v := range voices {
			(*v.tell.Load())(driver.Event{})
		}
		pass(breaksWithin)
		if told.Load() == before {
			t.Errorf("claim %s is held, and nothing is told of it", held.ID)
		}
		for i, c := range waits {
			if !d.forget(c.ID) {
				t.Errorf("claim %d in line is not told of", i)
			}
		}
		if n := changes.Load(); n != 1 {
			t.Errorf("%d changes of a queue are told, want 1", n)
		}
	})
}

// breaksWithin is above the time for which a quorum waits for those who end a claim to reach all nodes, and far below
// that after which it asks without a reason.
const breaksWithin = 50 * time.Millisecond

// A voice is a node that tells what a test wants.
type voice struct {
	old
	tell atomic.Pointer[func(driver.Event)] // nil while nobody is told
}

func (v *voice) Subscribe(tell func(driver.Event)) (stop func()) {
	v.tell.Store(&tell)
	unsubscribe := v.old.Subscribe(tell)
	return func() {
		v.tell.Store(nil)
		unsubscribe()
	}
}

// withVoices makes a quorum of such nodes.
func withVoices(t *testing.T) (*client, []*voice) {
	voices, nodes := make([]*voice, 3), make([]driver.Driver, 3)
	for i := range nodes {
		voices[i] = &voice{old: old{memlock.New()}}
		nodes[i] = voices[i]
	}
	return quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl}), voices
}

// A quorum that is closed does not stay subscribed to nodes that others go on to use.
func TestCloseUnsubscribes(t *testing.T) {
	d, voices := withVoices(t)
	d.Close()
	for i, v := range voices {
		if v.tell.Load() != nil {
			t.Errorf("node %d goes on to tell", i)
		}
	}
}

// A node that tells nothing costs time only: whoever waits is asked about now and then.
func TestLostEventsCostTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := make([][]driver.Driver, 2)
		for range 3 {
			s := memlock.New()
			for i := range nodes {
				nodes[i] = append(nodes[i], mute{old{s.Client()}})
			}
		}
		opts := &quorum.Options{MaxTTL: ttl}
		d := quorumOf(t, nodes[0], opts)
		held := acquire(t, d, claim("jobs"))
		var all sync.WaitGroup
		other := quorumOf(t, nodes[1], opts)
		for range 2 {
			all.Go(func() { release(t, other, await(t, other, claim("jobs"))) })
		}
		pass(ttl / 2)
		began := time.Now()
		release(t, d, held)
		all.Wait()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("both had it after %v", took)
		}
	})
}

// A mute node tells nothing.
type mute struct{ old }

func (mute) Subscribe(func(driver.Event)) (stop func()) { return func() {} }

// A change of a queue is told once after somebody has asked for it, as long as one node can tell.
func TestWatchingAQueue(t *testing.T) {
	for _, name := range []string{"jobs", "~turn/jobs"} {
		synctest.Test(t, func(t *testing.T) {
			d, nodes := gatherers(t)
			var changes atomic.Int64
			defer d.Subscribe(func(e driver.Event) {
				if e == (driver.Event{Name: name}) {
					changes.Add(1)
				}
			})()
			watch := func(away int) error {
				for _, n := range nodes[:away] {
					n.away.Store(true)
					defer n.away.Store(false)
				}
				return d.op(t.Context(), driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: name}}).Err
			}
			changed := func(want int64) {
				t.Helper()
				pass(time.Second)
				if n := changes.Swap(0); n != want {
					t.Errorf("%d changes are told, want %d", n, want)
				}
			}
			c := acquire(t, d, claim(name))
			changed(0)
			if err := watch(0); err != nil {
				t.Fatal(err)
			}
			release(t, d, c)
			changed(1)
			c = acquire(t, d, claim(name))
			changed(0)
			if err := watch(3); err == nil || !strings.Contains(err.Error(), "none of 3 servers") {
				t.Errorf("no node can tell: %v", err)
			}
			if err := watch(2); err != nil {
				t.Errorf("one node can tell: %v", err)
			}
			release(t, d, c)
			changed(1)
		})
	}
}

// The first in line to whom somebody else was preferred is told of the next release, too.
func TestNodesTellTheFirstInLineAgain(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		holder, d := ps.client(t), ps.client(t)
		held := acquire(t, holder, claim("jobs"))
		granted := make(chan time.Time)
		go func() {
			await(t, d, claim("jobs"))
			granted <- time.Now()
		}()
		pass(ttl / 3)
		rival := claim("jobs")
		for _, p := range ps { // which grant it at the release
			claimed.Ask(t, p.store, rival, false)
		}
		release(t, holder, held)
		pass(ttl * 2 / 3)
		began := time.Now()
		for _, p := range ps {
			release(t, p.store, rival)
		}
		if took := (<-granted).Sub(began); took > 20*time.Millisecond {
			t.Errorf("the next had it after %v", took)
		}
	})
}

// A caller that gives up waiting while no node answers leaves nothing that goes on to watch.
func TestGivingUpInAnOutage(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		acquire(t, ps.client(t), claim("jobs"))
		d := ps.client(t)
		settle(t, d)
		before := bubble.Goroutines()
		c := claim("jobs")
		if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
			t.Fatalf("another has the lock: %+v, %v", st, err)
		}
		ps.each((*part).hang)
		for range 20 { // as the core does, for a TTL
			ctx, cancel := context.WithTimeout(t.Context(), ttl/20)
			_ = d.Release(ctx, c) // nobody answers
			cancel()
			pass(ttl / 20)
		}
		ps.each((*part).goOn)
		pass(4 * ttl)
		if more := bubble.Goroutines() - before; more > 0 {
			t.Errorf("%d goroutines more than before", more)
		}
	})
}
