package quorum_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// shown returns the IDs in a queue, those that are granted with a star.
func shown(t *testing.T, d *client, name string) (ids []string) {
	t.Helper()
	queue, err := d.Queue(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range queue {
		id := e.ID
		if e.Granted {
			id += "*"
		}
		if e.Name != name || e.Left <= 0 || e.Left > ttl || e.Since.IsZero() {
			t.Errorf("shown: %+v", e)
		}
		ids = append(ids, id)
	}
	return ids
}

func shows(t *testing.T, d *client, name string, want ...string) {
	t.Helper()
	if got := shown(t, d, name); !slices.Equal(got, want) {
		t.Errorf("the queue of %q is %q, want %q", name, got, want)
	}
}

// The queue shows who has the lock on a majority, and then who stands in line; who looks need not have been there
// before, and a minority that is away, has forgotten everything or has a claim alone changes nothing.
func TestQueueIsWhatMajorityShows(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d := ps.client(t)
		shows(t, d, "jobs")
		held := acquire(t, d, claim("jobs"))
		pass(ttl / 2)
		acquire(t, d, held) // on all nodes
		var waiting []string
		for range 3 {
			c := claim("jobs")
			if st, err := ps.client(t).Request(context.Background(), c); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
			waiting = append(waiting, c.ID)
			pass(time.Millisecond)
		}
		want := append([]string{held.ID + "*"}, waiting...)
		shows(t, ps.client(t), "jobs", want...)
		queue, _ := d.Queue(context.Background(), "jobs")
		if queue[0].Token != held.Token || queue[1].Token != 0 {
			t.Errorf("tokens %d and %d, want %d and none", queue[0].Token, queue[1].Token, held.Token)
		}
		for i := range ps {
			ps[i].hang()
			ps[(i+1)%5].hang()
			if got := shown(t, ps.client(t), "jobs"); len(got) == 0 || got[0] != want[0] {
				t.Errorf("with two nodes away the queue is %q", got)
			}
			ps[i].goOn()
			ps[(i+1)%5].goOn()
		}
		stray := claim("stray")
		for _, p := range ps[:2] {
			if _, err := p.store.Request(context.Background(), stray); err != nil {
				t.Fatal(err)
			}
		}
		shows(t, d, "stray")
		ps[:3].each((*part).hang)
		defer ps[:3].each((*part).goOn)
		if queue, err := d.Queue(context.Background(), "jobs"); err == nil || errors.Is(err, driver.ErrRefused) {
			t.Errorf("with three of five nodes away the queue is %v, %v", queue, err)
		}
	})
}

// Who is broken on a majority has lost the lock, and whoever is next gets it, though a minority could not be told.
func TestBreakAtMajority(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d, other := ps.client(t), ps.client(t)
		held := acquire(t, d, claim("jobs"))
		pass(ttl / 2)
		acquire(t, d, held) // on all nodes
		away := ps[1:3]
		away.each((*part).hang)
		if err := other.Break(context.Background(), "jobs", held.ID); err != nil {
			t.Fatal(err)
		}
		away.each((*part).goOn)
		if _, err := d.Request(context.Background(), held); !errors.Is(err, driver.ErrGone) {
			t.Errorf("the claim was broken, and its renewal says %v", err)
		}
		await(t, other, claim("jobs"))
		if err := other.Break(context.Background(), "jobs", held.ID); !errors.Is(err, driver.ErrGone) {
			t.Errorf("breaking it again: %v", err)
		}
	})
}

// A claim that waits can be broken too.
func TestBreakWaiter(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d, other := ps.client(t), ps.client(t)
		held := acquire(t, d, claim("jobs"))
		c := claim("jobs")
		if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
			t.Fatalf("another has the lock: %+v, %v", st, err)
		}
		if err := other.Break(context.Background(), "jobs", c.ID); err != nil {
			t.Fatal(err)
		}
		pass(ttl / 3)
		if st, err := d.Request(context.Background(), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("the claim was broken, and asking again says %+v, %v", st, err)
		}
		shows(t, other, "jobs", held.ID+"*")
	})
}

// A place in line that a node forgot is taken anew.
func TestForgottenPlaceIsNotBroken(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		c := claim("jobs")
		if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
			t.Fatalf("another has the lock: %+v, %v", st, err)
		}
		for _, p := range ps {
			line, _ := p.store.Queue(context.Background(), "~turn/jobs")
			for _, e := range line {
				if e.ID == c.ID {
					p.restart()
				}
			}
		}
		pass(ttl / 3)
		if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
			t.Errorf("asking again says %+v, %v", st, err)
		}
		shows(t, d, "jobs", held.ID+"*", c.ID)
	})
}

// Names are those that a majority lists, and none of the quorum's own.
func TestListIsWhatMajorityLists(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		for _, name := range []string{"a", "ab", "b", "~a", "~turn/a", "~~"} {
			acquire(t, d, claim(name))
		}
		pass(time.Millisecond) // in which the last one comes to all nodes
		if _, err := ps[0].store.Request(context.Background(), claim("alone")); err != nil {
			t.Fatal(err)
		}
		ps[0].restart()
		for prefix, want := range map[string][]string{
			"": {"a", "ab", "b", "~a", "~turn/a", "~~"}, "a": {"a", "ab"},
			"~": {"~a", "~turn/a", "~~"}, "~t": {"~turn/a"}, "c": nil,
		} {
			var got []string
			for name, err := range driver.List(context.Background(), ps.client(t), prefix) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, name)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("names that begin with %q: %q, want %q", prefix, got, want)
			}
		}
	})
}

// heldWhereOneHangs has two of three nodes hold a lock, of which one hangs until the caller lets it go on.
func (ps parts) heldWhereOneHangs(t *testing.T) (goOn func()) {
	d := ps.client(t)
	ps[2].hang()
	acquire(t, d, claim("jobs"))
	synctest.Wait()
	ps[2].goOn()
	ps[0].hang()
	return ps[0].goOn
}

// A lock that a majority has is listed, though one of its nodes does not answer.
func TestListWhileANodeHangs(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		defer ps.heldWhereOneHangs(t)()
		var got []string
		for name, err := range ps.client(t).List(context.Background(), "") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, name)
		}
		if !slices.Equal(got, []string{"jobs"}) {
			t.Errorf("two of three nodes have a claim, and listed are %q", got)
		}
	})
}

// dawdler returns a node that is slow to show its lines.
func dawdler(p *part) driver.Driver {
	return batch.Intercept(p, func(ctx context.Context, op driver.Op, pass passOn) driver.Result {
		if op.Kind == driver.OpQueue {
			if err := driver.Sleep(ctx, ttl/50); err != nil {
				return driver.Result{Err: err}
			}
		}
		return pass(op)
	})
}

// A line is on one node: whoever waits is shown though that is slower than the others.
func TestQueueWaitsForTheLine(t *testing.T) {
	for i := range 3 {
		inTime(t, 3, func(t *testing.T, ps parts) {
			d := ps.client(t)
			held, c := acquire(t, d, claim("jobs")), claim("jobs")
			if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
			nodes := []driver.Driver{ps[0], ps[1], ps[2]}
			nodes[i] = dawdler(ps[i])
			shows(t, quorumOf(t, nodes, nil), "jobs", held.ID+"*", c.ID)
		})
	}
}

// Break says what it has done: a holder that has lost its majority by it was broken.
func TestBreakWhileANodeHangs(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ps[2].hang()
		c := claim("jobs")
		c.Detached = true
		held := acquire(t, d, c)
		synctest.Wait()
		d.Close()
		ps[2].goOn()
		pass(time.Second)
		ps[0].hang()
		err := ps.client(t).Break(context.Background(), "jobs", held.ID)
		ps[0].goOn()
		pass(time.Second)
		left := ps.having(t, "jobs")
		t.Logf("Break: %v; the claim is left on %d nodes", err, left)
		if errors.Is(err, driver.ErrGone) && left < 2 {
			t.Errorf("the holder has lost its majority to the break, which says %v", err)
		}
	})
}

// The queue does not show a lock as free while a majority has a claim on it and one node does not answer.
func TestQueueWhileANodeHangs(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		defer ps.heldWhereOneHangs(t)()
		if queue, err := ps.client(t).Queue(context.Background(), "jobs"); err == nil && len(queue) == 0 {
			t.Errorf("two of three nodes have a claim, and nobody is shown")
		}
	})
}

// A lock that was broken is lost, though a node that did not have it is about to be asked for it, and another that has
// it does not answer.
func TestBreakBesideATopUp(t *testing.T) {
	for _, waits := range []bool{false, true} { // who has waited has a place in line still
		inTime(t, 3, func(t *testing.T, ps parts) {
			d, held := ps.client(t), claim("jobs")
			if waits {
				before := acquire(t, d, claim("jobs"))
				d.Request(t.Context(), held)
				release(t, d, before)
			}
			ps[0].wrong.Store(true)
			held = await(t, d, held)
			ps[0].wrong.Store(false)
			ps[2].hang()
			err := ps.client(t).Break(t.Context(), "jobs", held.ID)
			pass(time.Second)
			ps[2].goOn()
			_, renewed := d.Request(t.Context(), held)
			if err != nil || !errors.Is(renewed, driver.ErrGone) {
				t.Errorf("it waits: %v; Break says %v, and the holder is told %v", waits, err, renewed)
			}
		})
	}
}

// Who looks at a queue waits for a node that is silent once, and then hardly, until it has answered.
func TestQueueBesideASilentNode(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		held := acquire(t, ps.client(t), claim("jobs"))
		synctest.Wait()
		var nodes []driver.Driver
		for _, p := range ps {
			nodes = append(nodes, dawdler(p))
		}
		d := quorumOf(t, nodes, nil)
		look := func() time.Duration {
			began := time.Now()
			shows(t, d, "jobs", held.ID+"*")
			return time.Since(began)
		}
		usual := look()
		ps[0].hang()
		defer ps[0].goOn()
		if took := look(); took > time.Second {
			t.Errorf("the first look took %v", took)
		}
		for range 3 {
			if took := look(); took > usual+50*time.Millisecond {
				t.Errorf("a look took %v, without the silent node %v", took, usual)
			}
		}
	})
}
