package quorum_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/quorum"
)

// Who takes up a claim of another client while a node that has it does not answer does not know whether a majority has
// it. It must not say that the claim is gone, and must not give it back.
func TestAdoptWhileANodeHangs(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ps[2].hang() // so that the claim is on the other two
		c := claim("jobs")
		c.Detached = true
		held := acquire(t, d, c)
		synctest.Wait()
		d.Close() // as a process that leaves a lock behind does
		ps[2].goOn()
		pass(time.Second)
		ps.have(t, "jobs", 2)
		ps[0].hang()
		other := ps.client(t)
		_, err := other.Request(context.Background(), held)
		if err == nil || errors.Is(err, driver.ErrGone) {
			t.Errorf("two of three nodes have the claim, one of them does not answer: %v", err)
		}
		ps[0].goOn()
		pass(time.Second)
		ps.have(t, "jobs", 2)
		if _, err := ps.client(t).Request(context.Background(), held); err != nil {
			t.Errorf("all nodes answer again: %v", err)
		}
	})
}

// A claim that has another token on one node than on the others is found by its own one, whoever does not answer.
func TestAdoptBesideAnotherToken(t *testing.T) {
	for range 8 { // the nodes answer in another order each time
		inTime(t, 3, func(t *testing.T, ps parts) {
			ahead := uint64(time.Now().Add(time.Minute).UnixMicro())
			rival := try(claim("jobs"))
			if _, _, err := ps[2].store.Propose(context.Background(), rival, ahead); err != nil {
				t.Fatal(err)
			}
			d := ps.client(t)
			held := acquire(t, d, claim("jobs")) // by the first two
			release(t, ps[2].store, rival)
			pass(ttl / 10) // the third is asked again
			ps.have(t, "jobs", 3)
			ps[0].hang() // one of three
			defer ps[0].goOn()
			if _, err := ps.client(t).Request(context.Background(), held); err != nil {
				t.Errorf("another client renews: %v", err)
			}
			queue, err := ps.client(t).Queue(context.Background(), "jobs")
			if err != nil || len(queue) != 1 || queue[0].Token != held.Token {
				t.Errorf("shown: %+v, %v; want token %d", queue, err, held.Token)
			}
		})
	}
}

// Who takes up its own lock again, which another client had meanwhile, finds it on the nodes that have it now: one node
// that has forgotten everything takes it from nobody.
func TestResumeAfterAnother(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d, other := ps.client(t), ps.client(t)
		ps[2].hang()
		held := acquire(t, d, claim("jobs"))
		pass(2 * time.Second) // whoever asked it has given up
		ps[2].goOn()
		held.Detached = true
		if _, err := other.Request(context.Background(), held); err != nil { // Resume
			t.Fatal(err)
		}
		pass(time.Second)
		ps.have(t, "jobs", 3)
		ps[0].restart()
		if _, err := d.Request(context.Background(), held); err != nil { // Resume
			t.Errorf("two of three nodes have the claim: %v", err)
		}
		synctest.Wait()
		if n := ps.having(t, "jobs"); n < 2 {
			t.Errorf("%d claims are left", n)
		}
	})
}

// A node that gets a claim only after another client has resumed it shows the claim's owner and value, which that
// client does not know.
func TestResumedClaimKeepsOwnerOnLateNodes(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		ps[2].hang()
		c := claim("jobs")
		c.Detached, c.Owner, c.Value = true, "web-1", "10.0.0.1:80"
		held := acquire(t, d, c)
		synctest.Wait()
		d.Close()
		held.Owner, held.Value = "", ""
		other := ps.client(t)
		if _, err := other.Request(context.Background(), held); err != nil { // Resume
			t.Fatal(err)
		}
		ps[2].goOn()
		pass(time.Second)
		ps.have(t, "jobs", 3)
		for i, p := range ps {
			queue, err := p.store.Queue(context.Background(), "jobs")
			if err != nil || len(queue) != 1 || queue[0].Owner != c.Owner || queue[0].Value != c.Value {
				t.Errorf("node %d shows %+v, %v; want owner %q and value %q", i, queue, err, c.Owner, c.Value)
			}
		}
	})
}

// A release under another token releases nothing, whichever client sends it.
func TestReleaseUnderAnotherTokenByAnother(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		held := acquire(t, ps.client(t), claim("jobs"))
		synctest.Wait()
		wrong := held
		wrong.Token++
		if err := ps.client(t).Release(context.Background(), wrong); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a release under another token: %v, want ErrGone", err)
		}
		synctest.Wait()
		ps.have(t, "jobs", 3)
	})
}

// A lock that was had in the second round is released by another client on all nodes, though one node has it under a
// token of its own and another does not answer at first.
func TestReleaseOfASecondRoundByAnother(t *testing.T) {
	for range 8 { // the nodes answer in another order each time
		inTime(t, 3, func(t *testing.T, ps parts) {
			var lose atomic.Int32
			d := quorumOf(t, ps.shaky(&lose, 0), &quorum.Options{MaxTTL: ttl})
			ahead := uint64(time.Now().Add(time.Minute).UnixMicro())
			rival := try(claim("jobs"))
			if _, _, err := ps[2].store.Propose(context.Background(), rival, ahead); err != nil {
				t.Fatal(err)
			}
			lose.Store(3) // the first round fails
			c := claim("jobs")
			c.Detached = true
			held := acquire(t, d, c)
			release(t, ps[2].store, rival)
			pass(ttl / 10) // the third is asked again
			ps.have(t, "jobs", 3)
			d.Close()
			ps[0].hang()
			err := ps.client(t).Release(context.Background(), held)
			ps[0].goOn()
			pass(3 * time.Second)
			if n := ps.having(t, "jobs"); err != nil || n > 0 {
				t.Errorf("the release says %v, and %d nodes have the claim", err, n)
			}
		})
	}
}
