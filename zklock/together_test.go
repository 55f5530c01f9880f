package zklock_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/zklock"
)

// doAll does a batch, and returns its results.
func doAll(t *testing.T, d driver.Driver, batch []driver.Op) []driver.Result {
	results := make([]driver.Result, len(batch))
	d.Do(limit(t), batch, func(i int, r driver.Result) { results[i] = r })
	return results
}

// requestsOf is a request for each of some locks.
func requestsOf(n int) (batch []driver.Op) {
	for i := range n {
		batch = append(batch, driver.Op{Kind: driver.OpRequest, Claim: claim(fmt.Sprint("job", i), longest)})
	}
	return batch
}

// releasesOf is a release of each claim of a batch of requests, which must have been granted.
func releasesOf(t *testing.T, requests []driver.Op, results []driver.Result) (batch []driver.Op) {
	t.Helper()
	for i, r := range results {
		if r.Err != nil || !r.Status.Granted || r.Status.Token == 0 {
			t.Fatalf("request %d: %+v", i, r)
		}
		release := driver.Op{Kind: driver.OpRelease, Claim: requests[i].Claim}
		release.Claim.Token = r.Status.Token
		batch = append(batch, release)
	}
	return batch
}

// warm lets a driver use some locks, so that it has its session and the parents of their nodes.
func warm(t *testing.T, d driver.Driver, n int) {
	t.Helper()
	batch := requestsOf(n)
	doAll(t, d, releasesOf(t, batch, doAll(t, d, batch)))
}

// Locks that are acquired and released together take a message and a change for each fifty of them.
func TestTogether(t *testing.T) {
	t.Parallel()
	const n = 60
	var p tap
	addr := zklock.Server(t).Addr
	d, other, conn := open(t, p.options(), addr), open(t, nil, addr), raw(t, addr)
	warm(t, d, n)
	counted := func(what string, do func()) {
		t.Helper()
		before := czxid(t, conn)
		p.counted()
		do()
		if got := p.counted(); got != 2 {
			t.Errorf("%d %s took %d messages, want 2", n, what, got)
		}
		if got := czxid(t, conn) - before - 2; got != 2 { // the node by which this is seen came and went
			t.Errorf("%d %s were %d changes, want 2", n, what, got)
		}
	}
	requests := requestsOf(n)
	var releases []driver.Op
	counted("requests", func() { releases = releasesOf(t, requests, doAll(t, d, requests)) })
	for _, op := range releases {
		queue, err := other.Queue(limit(t), op.Claim.Name)
		if err != nil || len(queue) != 1 || queue[0].Token != op.Claim.Token {
			t.Errorf("in the queue of a claim with the token %d is %+v, %v", op.Claim.Token, queue, err)
		}
	}
	acquire(t, d, releases[0].Claim) // a renewal reads the token of the claim's own node
	counted("releases", func() {
		for i, r := range doAll(t, d, releases) {
			if r.Err != nil {
				t.Fatalf("release %d: %v", i, r.Err)
			}
		}
	})
	for _, op := range releases {
		if queue, err := other.Queue(limit(t), op.Claim.Name); err != nil || len(queue) > 0 {
			t.Errorf("in the queue of %s is %+v, %v", op.Claim.Name, queue, err)
		}
	}
	for i, r := range doAll(t, d, requests) {
		if !errors.Is(r.Err, driver.ErrGone) {
			t.Errorf("late copy %d of a request: %+v", i, r)
		}
	}
	for i, r := range doAll(t, d, releases) {
		if r.Err != nil {
			t.Errorf("late copy %d of a release: %v", i, r.Err)
		}
	}
}

// Two claims on one lock that are requested together have a token each.
func TestOneLockTwiceTogether(t *testing.T) {
	t.Parallel()
	d := open(t, nil, zklock.Server(t).Addr)
	warm(t, d, 4)
	batch := requestsOf(4)
	batch[1].Claim.Name, batch[3].Claim.Name = batch[0].Claim.Name, batch[2].Claim.Name
	results := doAll(t, d, batch)
	for i := 0; i < len(batch); i += 2 {
		a, b := results[i], results[i+1]
		if a.Err != nil || b.Err != nil || a.Status.Token == b.Status.Token || a.Status.Granted == b.Status.Granted {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
}

// Where one of some operations cannot be done with others, all are done that can be.
func TestOneOfSomeTogether(t *testing.T) {
	t.Parallel()
	type spoiler func(*testing.T, *zklock.Driver, *driver.Op)
	for name, c := range map[string]struct {
		spoil spoiler
		want  error
	}{
		"a request of a claim that has ended": {func(t *testing.T, d *zklock.Driver, op *driver.Op) {
			if err := d.Release(limit(t), op.Claim); !errors.Is(err, driver.ErrGone) {
				t.Fatal(err)
			}
		}, driver.ErrGone},
		"a release of a claim that was broken": {func(t *testing.T, d *zklock.Driver, op *driver.Op) {
			op.Kind, op.Claim = driver.OpRelease, acquire(t, d, op.Claim)
			if err := d.Break(limit(t), op.Claim.Name, op.Claim.ID); err != nil {
				t.Fatal(err)
			}
		}, driver.ErrGone},
		"a release with the token of another claim": {func(t *testing.T, d *zklock.Driver, op *driver.Op) {
			op.Kind, op.Claim = driver.OpRelease, acquire(t, d, op.Claim)
			op.Claim.Token++
		}, driver.ErrGone},
		"a request of a lock that is new": {func(t *testing.T, d *zklock.Driver, op *driver.Op) {
			op.Claim.Name = "new"
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, nil, zklock.Server(t).Addr)
			warm(t, d, 3)
			batch := requestsOf(3)
			c.spoil(t, d, &batch[1])
			for i, r := range doAll(t, d, batch) {
				switch {
				case i == 1 && c.want != nil:
					if !errors.Is(r.Err, c.want) {
						t.Errorf("%+v, want %v", r, c.want)
					}
				case r.Err != nil || !r.Status.Granted:
					t.Errorf("operation %d: %+v", i, r)
				}
			}
		})
	}
}

// A lock that another client holds is not granted to one that requests it together with others.
func TestTakenAmongOthersTogether(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), open(t, nil, addr)
	warm(t, d, 3)
	batch := requestsOf(3)
	held := acquire(t, other, claim(batch[1].Claim.Name, longest))
	results := doAll(t, d, batch)
	for i, r := range results {
		if granted := i != 1; r.Err != nil || r.Status.Granted != granted || r.Status.Token == 0 {
			t.Errorf("request %d: %+v, want granted: %v", i, r, granted)
		}
	}
	release(t, other, held)
	mustBeGranted(t, d, batch[1].Claim)
}

// The answer to operations that were done together is lost. Each is repeated by itself, and finds what was done.
func TestLostAnswerTogether(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	warm(t, l.Driver, 3)
	requests := requestsOf(3)
	lost := func(batch []driver.Op) {
		t.Helper()
		l.Loses(t, batch[0].Claim.ID, func() (err error) {
			for i, r := range doAll(t, l.Driver, batch) {
				if err = r.Err; err == nil {
					t.Fatalf("operation %d was answered", i)
				}
			}
			return err
		})
	}
	lost(requests)
	releases := make([]driver.Op, len(requests))
	for i, op := range requests {
		releases[i] = driver.Op{Kind: driver.OpRelease, Claim: acquire(t, l.Driver, op.Claim)}
		if queue, err := l.Other.Queue(limit(t), op.Claim.Name); err != nil || len(queue) != 1 {
			t.Errorf("in the queue of %s is %+v, %v", op.Claim.Name, queue, err)
		}
	}
	lost(releases)
	for _, op := range releases {
		next := take(t, l.Other, claim(op.Claim.Name, longest))
		release(t, l.Driver, op.Claim)
		acquire(t, l.Other, next) // the repeated release did not touch it
	}
}

// Nobody repeats or undoes requests whose answer was lost, and the client lives on: the claims end all the same.
func TestLostAnswerTogetherThatIsForgotten(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	shortly := func() []driver.Op {
		batch := requestsOf(3)
		for i := range batch {
			batch[i].Claim.TTL = short
		}
		return batch
	}
	doAll(t, l.Driver, shortly()) // the session and the parents are there
	batch := shortly()
	holders := make([]driver.Claim, len(batch))
	for i := range batch {
		batch[i].Claim.Name += " again"
		holders[i] = acquire(t, l.Other, claim(batch[i].Claim.Name, longest))
	}
	l.Loses(t, batch[0].Claim.ID, func() error { return doAll(t, l.Driver, batch)[0].Err })
	for _, holder := range holders {
		until(t, "the claim behind has ended", func() bool {
			c := claim("another", short) // which keeps their session from ending
			if st, err := l.Request(limit(t), c); err == nil {
				c.Token = st.Token
				l.Release(limit(t), c)
			}
			acquire(t, l.Other, holder) // a renewal
			queue, err := l.Other.Queue(limit(t), holder.Name)
			return err == nil && len(queue) == 1
		})
	}
}
