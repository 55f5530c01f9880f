package quorum_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/driver"
)

// An engine has one vote, whatever its names: with three names of one there is no majority, and with two of one
// everything depends on the others.
func TestOneEngineHasOneVote(t *testing.T) {
	for _, row := range []struct {
		name    string
		names   int
		same    int // so many of the names are one engine's
		away    int // so many of the others hang
		granted bool
	}{
		{"three of three", 3, 3, 0, false},
		{"two of three", 3, 2, 0, true},
		{"two of three, the third is away", 3, 2, 1, false},
		{"three of five", 5, 3, 0, true},
		{"three of five, one is away", 5, 3, 1, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			inTime(t, row.names, func(t *testing.T, ps parts) {
				for _, p := range ps[:row.same] {
					p.become(ps[0])
				}
				for _, p := range ps[row.names-row.away:] {
					p.hang()
					defer p.goOn()
				}
				st, err := ps.client(t).Request(context.Background(), try(claim("jobs")))
				if st.Granted != row.granted {
					t.Errorf("granted: %t, %v; want %t", st.Granted, err, row.granted)
				}
				if !row.granted && (err == nil || !strings.Contains(err.Error(), "are one server")) {
					t.Errorf("the error does not say which nodes are one: %v", err)
				}
			})
		})
	}
}

// A name that comes to lead to another node confirms nothing in its own right: what is held there is counted already,
// and what it led to before may let the next one in.
func TestOneEngineConfirmsOnce(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		theirs := ps.view()
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		ps[0].become(ps[2])
		ps[1].hang()
		defer ps[1].goOn()
		pass(ttl / 2)
		for range 4 { // for longer than the claim lives where it is not renewed
			if st, err := d.Request(context.Background(), held); err == nil && st.Granted {
				t.Errorf("one server of three confirmed the claim: %+v", st)
			} else if err == nil || !strings.Contains(err.Error(), "are one server") {
				t.Errorf("the error does not say which nodes are one: %v", err)
			}
			pass(ttl / 4)
		}
		acquire(t, theirs.client(t), try(claim("jobs"))) // as they may: it has expired on two of the three
	})
}

// A connection that breaks may take along the question which engine a name leads to now, and not the renewal.
func TestOneEngineThatIsNotKnown(t *testing.T) {
	for _, lost := range []int64{0, 1, 2} {
		inTime(t, 3, func(t *testing.T, ps parts) {
			d := ps.client(t)
			held := acquire(t, d, claim("jobs"))
			synctest.Wait() // no vote is under way that tells which engine the node was before
			ps[0].become(ps[2])
			ps[0].lost.Store(lost)
			ps[1].hang()
			defer ps[1].goOn()
			if st, err := d.Request(context.Background(), held); err == nil && st.Granted {
				t.Errorf("one server of three confirmed the claim when %d questions were lost: %+v", lost, st)
			}
		})
	}
}

// A claim that is not found is lost only where a majority of engines does not have it.
func TestOneEngineDeniesOnce(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		theirs := ps.view()
		held := acquire(t, ps.client(t), claim("jobs"))
		theirs[0].restart()
		theirs[1].become(theirs[0])
		theirs[2].hang()
		defer theirs[2].goOn()
		_, err := theirs.client(t).Request(context.Background(), held)
		if err == nil || errors.Is(err, driver.ErrGone) {
			t.Errorf("one server of three forgot the claim, and it counts as lost: %v", err)
		}
	})
}

// A release that one engine confirms under two names is not confirmed by a majority: the others may have forgotten the
// lock, and let somebody in. Nor is it denied by a majority.
func TestOneEngineReleasesOnce(t *testing.T) {
	for _, has := range []bool{true, false} {
		inTime(t, 3, func(t *testing.T, ps parts) {
			d := ps.client(t)
			held := acquire(t, d, claim("jobs"))
			synctest.Wait() // until all nodes have it
			pass(ttl / 2)
			ps[0].become(ps[2])
			ps[1].hang()
			defer ps[1].goOn()
			if !has {
				ps[2].restart()
				ps[0].become(ps[2])
			}
			err := d.Release(context.Background(), held)
			if err == nil || errors.Is(err, driver.ErrGone) {
				t.Errorf("one server of three answered, and the release says %v", err)
			}
		})
	}
}

// The examination tells of names that lead to one engine.
func TestCheckFindsOneEngineTwice(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		ps[3].become(ps[1])
		findings, err := driver.Check(context.Background(), ps.client(t), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			twins := f.Level == driver.Unsafe && strings.Contains(f.Fact, "node 2 and node 4 are one server")
			if twins && f.Advice != "" {
				return
			}
		}
		t.Errorf("it does not say that node 2 and node 4 are one server: %+v", findings)
	})
}
