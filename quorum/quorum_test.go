package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/quorum"
)

// A node that hangs costs no time at all: the others are a majority.
func TestMinorityIsNotWaitedFor(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d := ps.client(t)
		for _, p := range ps[:2] {
			p.hang()
			defer p.goOn()
		}
		began := time.Now()
		release(t, d, acquire(t, d, claim("jobs")))
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// What a majority granted comes to be on all nodes, and is given back on all.
func TestAllNodesFollow(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ps[3].hang()
		ps[4].hang()
		held := acquire(t, d, claim("jobs"))
		pass(2 * time.Second) // whoever asked them has given up
		ps[3].goOn()
		ps[4].goOn()
		acquire(t, d, held)
		pass(time.Second)
		ps.have(t, "jobs", 5)
		ps[0].hang()
		release(t, d, held)
		pass(3 * time.Second)
		ps[0].goOn()
		pass(2 * time.Second)
		ps.have(t, "jobs", 0)
	})
}

// Of several releases of a claim at once none is told that it was gone before.
func TestReleasesAtOnce(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		ps.each(func(p *part) { p.hang() })
		errs := make(chan error)
		for range 3 {
			go func() { errs <- d.Release(context.Background(), held) }()
		}
		synctest.Wait()
		ps.each(func(p *part) { p.goOn() })
		for range 3 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := d.Release(context.Background(), held); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// A release that comes before its request bars the claim for a while, also where it does not say for how long.
func TestReleaseBeforeTheRequest(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		c := claim("jobs")
		early := c
		early.TTL = 0
		if err := ps.client(t).Release(context.Background(), early); !errors.Is(err, driver.ErrGone) {
			t.Errorf("the release: %v", err)
		}
		pass(ttl * 2 / 3)
		if st, err := ps.client(t).Request(context.Background(), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("the request that was late: %+v, %v", st, err)
		}
	})
}

// Who gets no majority gives back what it got.
func TestLosersLeaveNothing(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		rival := try(claim("jobs"))
		for _, p := range ps[:2] {
			acquire(t, p.store, rival)
		}
		d := ps.client(t)
		for _, queue := range []bool{false, true} {
			c := claim("jobs")
			c.Queue = queue
			if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
				t.Fatalf("others have two of three nodes: %+v, %v", st, err)
			}
			synctest.Wait()
			ps.have(t, "jobs", 2)
			if queue {
				release(t, d, c)
			}
		}
	})
}

// A claim that has expired on one node is barred, though it lives for a moment more on another, and the last one, which
// never had it, has let another in by then: it takes no place in the line.
func TestExpiredHereAliveThere(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		blocker := try(claim("jobs"))
		acquire(t, ps[2].store, blocker)
		d, c := ps.client(t), claim("jobs")
		c.TTL = ttl / 10
		c = acquire(t, d, c)
		c.TTL = ttl / 2
		if _, err := ps[1].store.Request(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		pass(ttl / 5)
		release(t, ps[2].store, blocker)
		acquire(t, ps.client(t), claim("jobs"))
		c.Token = 0
		if st, err := ps.client(t).Request(context.Background(), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("the expired claim is requested again: %+v, %v; want ErrGone", st, err)
		}
	})
}

// Whoever is suspended after it asked finds the answers of all when it goes on, and the claim expired.
func TestSuspendedWhileAcquiring(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		for _, p := range ps {
			p.lag.Store(int64(ttl))
		}
		d := ps.client(t)
		ctx, cancel := context.WithTimeout(context.Background(), 3*ttl)
		defer cancel()
		if st, err := d.Request(ctx, try(claim("jobs"))); err == nil && st.Granted {
			t.Errorf("granted after all of the TTL has passed: %+v", st)
		}
		for _, p := range ps {
			p.lag.Store(0)
		}
		pass(2 * ttl)
		release(t, d, acquire(t, d, claim("jobs")))
	})
}

// A claim may be renewed by one goroutine while another still asks for it. This is for the race detector.
func TestRenewedWhileAcquiring(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		rival := try(claim("jobs"))
		for _, p := range ps[:2] {
			acquire(t, p.store, rival)
		}
		for _, p := range ps {
			p.lag.Store(int64(100 * time.Millisecond))
		}
		d, c := ps.client(t), claim("jobs")
		asked := claimed.InBackground(d, c)
		var renewals sync.WaitGroup
		for range 20 {
			renewals.Go(func() {
				time.Sleep(100 * time.Millisecond) // until the answers arrive
				if _, err := d.Renew(context.Background(), []driver.Claim{c}); err != nil {
					t.Error(err)
				}
			})
		}
		renewals.Wait()
		if err := <-asked; err != nil {
			t.Error(err)
		}
		release(t, d, c)
	})
}

// A request that arrives after its claim was released takes no place in the line: others would wait
// behind it for a TTL.
func TestLateRequestStaysOutOfLine(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		acquire(t, d, claim("jobs"))
		first, c := claim("jobs"), claim("jobs")
		for _, c := range []driver.Claim{first, c} {
			if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
		}
		line := ps[slices.IndexFunc(ps, func(p *part) bool { return parts{p}.having(t, "~turn/jobs") > 0 })]
		line.hang()
		late := claimed.InBackground(d, c)
		synctest.Wait()
		release(t, d, c)
		pass(2 * time.Second) // the node is given up, and the next would keep the line
		line.goOn()
		if err := <-late; !errors.Is(err, driver.ErrGone) {
			t.Errorf("the late request: %v, want ErrGone", err)
		}
		pass(time.Second)
		ps.have(t, "~turn/jobs", 1)
	})
}

// shaky returns a node that loses some votes, and answers to releases late.
func shaky(p *part, lose *atomic.Int32, late time.Duration) driver.Driver {
	return batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
		if op.Kind == driver.OpPropose && lose.Add(-1) >= 0 {
			return driver.Result{Err: errors.New("connection reset")}
		}
		r := pass(op)
		if op.Kind == driver.OpRelease {
			time.Sleep(late)
		}
		return r
	})
}

// shaky are the parts as such nodes.
func (ps parts) shaky(lose *atomic.Int32, late time.Duration) (nodes []driver.Driver) {
	for _, p := range ps {
		nodes = append(nodes, shaky(p, lose, late))
	}
	return nodes
}

// A claim that is released while it pauses between two rounds leaves nothing on the nodes, though the second one wins.
func TestReleaseBetweenRounds(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var lose atomic.Int32
		nodes := ps.shaky(&lose, 20*time.Millisecond)
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
		lose.Store(3) // the first round fails
		c := claim("jobs")
		answer := claimed.InBackground(d, c)
		pass(time.Millisecond)
		d.Release(context.Background(), c) // which finds nothing yet
		if err := <-answer; !errors.Is(err, driver.ErrGone) {
			t.Errorf("the request: %v, want ErrGone", err)
		}
		pass(time.Second)
		ps.have(t, "jobs", 0)
	})
}

// Whoever waits and was granted by one node leaves as soon as a majority has answered, though another node hangs.
func TestReleaseOfAWaiterThatOneNodeGranted(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var lose atomic.Int32
		lose.Store(1) // of the holder
		nodes := []driver.Driver{ps[0], ps[1], shaky(ps[2], &lose, 0)}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
		acquire(t, d, claim("jobs"))
		c := claim("jobs")
		claimed.Ask(t, d, c, false)
		hung := ps[0]
		if (parts{hung}).having(t, "~turn/jobs") > 0 { // the release may wait a little for the line
			hung = ps[1]
		}
		hung.hang()
		defer hung.goOn()
		began := time.Now()
		release(t, d, c)
		if took := time.Since(began); took > 0 {
			t.Errorf("the release took %v", took)
		}
	})
}

// deaf returns a node that does not answer about some locks: those in whose names to is. renewed counts how often it
// was asked about others.
func deaf(p *part, to *atomic.Pointer[string], renewed *atomic.Int64) driver.Driver {
	return batch.Intercept(p, func(ctx context.Context, op driver.Op, pass passOn) driver.Result {
		if name := to.Load(); name != nil && (op.Kind == driver.OpRequest || op.Kind == driver.OpPropose) {
			if strings.Contains(op.Claim.Name, *name) {
				<-ctx.Done()
				return driver.Result{Err: ctx.Err()}
			}
			renewed.Add(1)
		}
		return pass(op)
	})
}

// What is held is renewed although many claims that wait, in the same batch, get no answer.
func TestRenewalOfTheHeldWaitsForNobody(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var to atomic.Pointer[string]
		var renewed atomic.Int64
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = deaf(p, &to, &renewed)
		}
		d, other := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl}), ps.client(t)
		var batch []driver.Claim
		for i := range 40 {
			c := claim(fmt.Sprint("busy", i))
			acquire(t, other, claim(c.Name))
			if st, err := d.Request(context.Background(), c); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
			batch = append(batch, c)
		}
		batch = append(batch, acquire(t, d, claim("held")))
		synctest.Wait()
		busy := "busy"
		to.Store(&busy)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.Renew(ctx, batch)
		}()
		synctest.Wait()
		if renewed.Load() == 0 {
			t.Error("what is held was not renewed while claims that wait were asked for")
		}
		cancel()
		<-done
	})
}

// tardy returns a node that is long in answering to its nth vote, which it has cast.
func tardy(p *part, nth int32, takes time.Duration) driver.Driver {
	var votes atomic.Int32
	return batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
		r := pass(op)
		if op.Kind == driver.OpPropose && votes.Add(1) == nth {
			time.Sleep(takes)
		}
		return r
	})
}

// A node has the claim under the token that was proposed last, whether or not the holder had its answer when it began
// to renew. So it counts where another node does not answer.
func TestRenewedBeforeAllHaveAnswered(t *testing.T) {
	for range 5 { // the answers that come at once come in another order each time
		inTime(t, 3, renewedBeforeAllHaveAnswered)
	}
}

func renewedBeforeAllHaveAnswered(t *testing.T, ps parts) {
	for _, p := range ps { // so that the first proposal is behind
		c := claim("jobs")
		ahead := uint64(time.Now().Add(time.Hour).UnixMicro())
		if _, _, err := p.store.Propose(context.Background(), c, ahead); err != nil {
			t.Fatal(err)
		}
		release(t, p.store, c)
	}
	d := quorumOf(t, []driver.Driver{
		ps[0], ps[1],
		tardy(ps[2], 2, 600*time.Millisecond),
	}, &quorum.Options{MaxTTL: ttl})
	held := acquire(t, d, claim("jobs"))
	pass(450 * time.Millisecond)
	ps[1].hang()
	acquire(t, d, held)
}

// A claim that a majority has lost is lost, whoever still has it; while a majority is away nobody knows.
func TestRenewalNeedsMajority(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		ps[:3].each((*part).hang)
		if st, err := d.Request(context.Background(), held); err == nil {
			t.Errorf("with 3 of 5 nodes away the renewal says %+v", st)
		}
		ps[:3].each((*part).goOn)
		for i, p := range ps[:3] {
			if err := p.store.Break(context.Background(), "jobs", held.ID); err != nil {
				t.Fatal(err)
			}
			_, err := d.Request(context.Background(), held)
			if gone := errors.Is(err, driver.ErrGone); gone != (i == 2) {
				t.Fatalf("with the claim lost on %d of 5 nodes the renewal says %v", i+1, err)
			}
		}
		pass(time.Second)
		ps.have(t, "jobs", 0)
	})
}

// A release is true only if a majority had the claim until then.
func TestReleaseTellsTheTruth(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		for _, p := range ps[:2] {
			p.restart()
		}
		if err := d.Release(context.Background(), held); !errors.Is(err, driver.ErrGone) {
			t.Errorf("two of three nodes had forgotten the claim, and its release says %v", err)
		}
	})
}

// A node that restarted votes only when all claims have ended that it may have forgotten.
func TestRestartedNodeWaits(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d, other := ps.client(t), ps.client(t)
		settle(t, other)
		ps[2].hang()
		began := time.Now()
		acquire(t, d, claim("jobs"))
		d.Close()
		ps[0].restart()
		ps[2].goOn()
		for {
			st, err := other.Request(context.Background(), try(claim("jobs")))
			if err == nil && st.Granted {
				break
			}
			pass(100 * time.Millisecond)
		}
		if took := time.Since(began); took < ttl {
			t.Errorf("granted after %v, while another claim lived that a node had forgotten", took)
		}
	})
}

// A node that restarted does not vote on a lock before it has learnt its tokens, however long it has waited: here it is
// the only one that can be reached of those that knew.
func TestRestartedNodeLearns(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ahead := uint64(time.Now().Add(time.Hour).UnixMicro())
		for _, p := range ps {
			c := try(claim("jobs"))
			if st, _, err := p.store.Propose(context.Background(), c, ahead); err != nil || st.Token != ahead {
				t.Fatalf("%+v, %v", st, err)
			}
			release(t, p.store, c)
		}
		ps[2].hang()
		held := acquire(t, d, claim("jobs"))
		release(t, d, held)
		ps[0].restart()
		ps[1].hang()
		ps[2].goOn()
		pass(3 * ttl)
		for _, d := range []*client{d, ps.client(t)} {
			if st, err := d.Request(context.Background(), try(claim("jobs"))); err == nil && st.Granted {
				t.Errorf("a node that forgot %d granted %d", held.Token, st.Token)
			}
		}
		ps[1].goOn()
		pass(3 * ttl)
		if next := await(t, d, claim("jobs")); next.Token <= held.Token {
			t.Errorf("token %d after %d", next.Token, held.Token)
		}
	})
}

// Once it has learnt, it votes.
func TestRestartedNodeVotesAgain(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		release(t, d, acquire(t, d, claim("jobs")))
		synctest.Wait()
		ps[0].restart()
		c := acquire(t, d, claim("jobs")) // it is seen in its new life
		synctest.Wait()                   // unless the release overtakes the request there
		release(t, d, c)
		pass(ttl)
		c = acquire(t, d, claim("jobs")) // and learns
		synctest.Wait()
		release(t, d, c)
		ps[1].hang()
		defer ps[1].goOn()
		acquire(t, d, claim("jobs"))
	})
}

// When all nodes are new at once nothing can be learnt, and nothing is waited for but the longest TTL.
func TestAllNodesNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := parts{newPart(), newPart(), newPart()}
		d := ps.client(t)
		st, err := d.Request(context.Background(), claim("jobs"))
		if err != nil || st.Granted || st.Retry == 0 || st.Retry > ttl {
			t.Errorf("the nodes have just started: %+v, %v", st, err)
		}
		_, err = d.Request(context.Background(), try(claim("jobs")))
		if err == nil || !strings.Contains(err.Error(), "maxttl") ||
			!strings.Contains(err.Error(), "try again in "+ttl.String()) {
			t.Errorf("the nodes have just started: %v", err)
		}
		began := time.Now()
		await(t, d, claim("other"))
		if took := time.Since(began); took < ttl || took > ttl+time.Second {
			t.Errorf("the first claim was granted after %v, the longest TTL is %v", took, ttl)
		}
	})
}

// The first in line is told by the nodes that they are free, however long it has waited, and not once it has the lock.
func TestNodesTellTheFirstInLine(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		holder, d := ps.client(t), ps.client(t)
		held := acquire(t, holder, claim("jobs"))
		next := claim("jobs")
		granted := make(chan time.Time)
		go func() {
			await(t, d, next)
			granted <- time.Now()
		}()
		pass(ttl * 2 / 3)
		watched := func() (n int) {
			ps.each(func(p *part) { n += p.watches() })
			return n
		}
		if n := watched(); n != 5 {
			t.Errorf("%d nodes are watched, want 5", n)
		}
		began := time.Now()
		release(t, holder, held)
		if took := (<-granted).Sub(began); took > 20*time.Millisecond {
			t.Errorf("the next had it after %v", took)
		}
		synctest.Wait()
		if n := watched(); n > 0 {
			t.Errorf("%d nodes are watched on behalf of who has the lock", n)
		}
	})
}

// Those who wait do not ask: the first in line is told of the release, and the others of their turn.
func TestWaitersDoNotPoll(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		const waiters, holds = 8, ttl - 2*time.Second
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		all := ps.crowd(t, waiters, 0)
		pass(time.Second)
		before := ps.votes()
		pass(holds - time.Second)
		if asked := ps.votes() - before; asked > 6*int64(holds/time.Second) {
			t.Errorf("%d waiters asked %d times in %v", waiters, asked, holds)
		}
		release(t, d, held)
		released := time.Now()
		all.Wait()
		if took := time.Since(released); took > waiters*100*time.Millisecond {
			t.Errorf("the lock passed on %d times in %v", waiters, took)
		}
	})
}

// crowd has so many clients wait for a lock, which each of them holds for a while. It returns what waits for their end.
func (ps parts) crowd(t *testing.T, clients int, hold time.Duration) *sync.WaitGroup {
	all := new(sync.WaitGroup)
	for range clients {
		all.Go(func() {
			d := ps.client(t)
			c := await(t, d, claim("jobs"))
			time.Sleep(hold)
			release(t, d, c)
		})
	}
	return all
}

func (ps parts) votes() (n int64) {
	for _, p := range ps {
		n += p.votes.Load()
	}
	return n
}

// To pass the lock on, one of those who wait is told, and asks each node once.
func TestHandOffCost(t *testing.T) {
	inTime(t, 5, func(t *testing.T, ps parts) {
		const waiters = 8
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		all := ps.crowd(t, waiters, time.Millisecond)
		pass(time.Second)
		before := ps.votes()
		release(t, d, held)
		all.Wait()
		if asked := ps.votes() - before; asked > (waiters+1)*5 {
			t.Errorf("%d hand-offs took %d votes of 5 nodes", waiters, asked)
		}
	})
}

// A node that keeps the line and hangs does not stop the line.
func TestLineMoves(t *testing.T) {
	for i := range 3 {
		inTime(t, 3, func(t *testing.T, ps parts) {
			d := ps.client(t)
			held := acquire(t, d, claim("jobs"))
			granted := make(chan driver.Claim)
			for range 2 {
				go func() {
					d := ps.client(t)
					c := await(t, d, claim("jobs"))
					granted <- c
					release(t, d, c)
				}()
			}
			pass(time.Second)
			ps[i].hang()
			release(t, d, held)
			first, second := <-granted, <-granted
			if first.Token <= held.Token || second.Token <= first.Token {
				t.Errorf("tokens %d, %d, %d", held.Token, first.Token, second.Token)
			}
			ps[i].goOn()
			pass(ttl)
			ps.have(t, "jobs", 0)
		})
	}
}

// The holder learns of those who stand in line on another node, because those before it did not answer them.
func TestHolderFindsTheLine(t *testing.T) {
	for i := range 5 {
		inTime(t, 5, func(t *testing.T, ps parts) {
			d := ps.client(t)
			held := acquire(t, d, claim("jobs"))
			synctest.Wait() // until all nodes have it
			away := parts{ps[i], ps[(i+1)%5]}
			away.each((*part).hang)
			if st, err := ps.client(t).Request(context.Background(), claim("jobs")); err != nil || st.Granted {
				t.Fatalf("another has the lock: %+v, %v", st, err)
			}
			away.each((*part).goOn)
			for range len(ps) { // as often as it takes to ask all nodes
				st, err := d.Request(context.Background(), held)
				if err != nil {
					t.Fatal(err)
				}
				if st.Contended {
					return
				}
			}
			const says = "the holder does not learn that somebody waits, who came while nodes %d and %d did not answer"
			t.Errorf(says, i+1, (i+1)%5+1)
		})
	}
}

// A votesNot node cannot vote.
type votesNot struct{ *part }

func (n votesNot) Traits() driver.Traits {
	t := n.part.Traits()
	t.Ops &^= driver.KindsOf(driver.OpPropose)
	return t
}

func TestNew(t *testing.T) {
	node := func() driver.Driver { return newPart() }
	for _, row := range []struct {
		nodes []driver.Driver
		opts  *quorum.Options
		want  string
	}{
		{[]driver.Driver{node(), node()}, nil, "at least 3"},
		{[]driver.Driver{node(), node(), votesNot{newPart()}}, nil, "node 3"},
		{[]driver.Driver{node(), node(), node()}, &quorum.Options{MaxTTL: time.Millisecond}, "longest TTL"},
		{[]driver.Driver{node(), node(), node()}, &quorum.Options{Timeout: time.Minute}, "timeout"},
		{[]driver.Driver{node(), node(), node()}, &quorum.Options{Timeout: -1}, "timeout"},
	} {
		if _, err := quorum.New(row.nodes, row.opts); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%d nodes, %+v: %v, want %q", len(row.nodes), row.opts, err, row.want)
		}
	}
}

func TestOpen(t *testing.T) {
	opened.Refused(t, "redlock://", map[string]string{
		"a,b":                     "give at least 3",
		"a,b,a":                   "a:6379 twice",
		"a,b,c?maxttl=soon":       "parameter maxttl",
		"a,b,c?maxttl=1m&timeout": "parameter timeout",
		"u:secret@a,b,c":          "import github.com/holdfast-go/holdfast/redislock",
	})
}

// vague returns a node that applies some votes, and cannot say so.
func vague(p *part, times *atomic.Int32) driver.Driver {
	return batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
		r := pass(op)
		if op.Kind == driver.OpPropose && times.Add(-1) >= 0 {
			return driver.Result{Err: driver.ErrUnknown}
		}
		return r
	})
}

// What a node may have granted is given back when the round is lost, also if the node said that it cannot tell.
func TestUnknownVoteIsUndone(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var times atomic.Int32
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = vague(p, &times)
		}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
		times.Store(3)
		st, err := d.Request(context.Background(), try(claim("jobs")))
		t.Logf("%+v, %v", st, err)
		pass(time.Second)
		if !st.Granted {
			ps.have(t, "jobs", 0)
		}
	})
}

// No ID is that of claims on two locks of a node: it would forget what it is to tell of one when the other is released,
// and operations on one would wait for those on the other.
func TestIDsOnANode(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var mu sync.Mutex
		locks := make(map[string]string) // by ID
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
				if op.Kind.IsOnClaim() {
					mu.Lock()
					defer mu.Unlock()
					if lock, known := locks[op.Claim.ID]; known && lock != op.Claim.Name {
						t.Errorf("the ID %s is on %q and on %q", op.Claim.ID, lock, op.Claim.Name)
					}
					locks[op.Claim.ID] = op.Claim.Name
				}
				return pass(op)
			})
		}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
		held, next := acquire(t, d, claim("jobs")), claim("jobs")
		granted := make(chan driver.Claim)
		go func() { granted <- await(t, d, next) }()
		pass(time.Second)
		release(t, d, held)
		release(t, d, <-granted)
	})
}
