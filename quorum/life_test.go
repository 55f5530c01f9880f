package quorum_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// markedAway makes three new nodes, which one client founds while another knows two of them from before, and believes
// that they have no mark. The first and the second then know a token that the third does not. Clocks say nothing about
// it: it is an hour ahead of them. After so long the first node forgets everything.
func markedAway(t *testing.T, unmet int, after time.Duration) (ps parts, early *client, token uint64) {
	ps = parts{newPart(), newPart(), newPart()}
	pass(ttl)
	ps[unmet].hang() // it is being set up
	early = ps.client(t)
	release(t, early, acquire(t, early, claim("early")))
	pass(2 * time.Second)
	ps[unmet].goOn()
	d := ps.client(t)
	settle(t, d) // all are new: they are marked
	for _, p := range ps {
		if n := (parts{p}).having(t, "~life"); n != 1 {
			t.Fatalf("%d marks", n)
		}
	}
	ahead := uint64(time.Now().Add(time.Hour).UnixMicro())
	for _, p := range ps[:2] {
		c := try(claim("jobs"))
		if st, _, err := p.store.Propose(context.Background(), c, ahead); err != nil || st.Token != ahead {
			t.Fatalf("%+v, %v", st, err)
		}
		release(t, p.store, c)
	}
	ps[2].hang()
	held := acquire(t, d, claim("jobs"))
	release(t, d, held)
	pass(2 * time.Second)
	ps[2].goOn()
	if held.Token <= ahead {
		t.Fatal(held.Token)
	}
	pass(after)
	ps[0].restart()
	return ps, early, held.Token
}

// A node that was seen without a mark once may have got one since. While it is away nobody may believe that it has
// forgotten anything, and let another vote that has.
func TestMarkThatOneClientHasNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps, early, token := markedAway(t, 2, ttl) // what was learnt of marks is not believed for so long
		ps[1].hang()                              // after the first is back another is away
		defer ps[1].goOn()
		early.Request(context.Background(), try(claim("other"))) // the first is seen in its new life
		pass(2 * ttl)
		st, err := early.Request(context.Background(), try(claim("jobs")))
		if err == nil && st.Granted && st.Token <= token {
			t.Errorf("token %d after %d", st.Token, token)
		}
	})
}

// A node that has forgotten is not marked because others were seen without a mark, however long ago.
func TestNoMarkForOneThatForgot(t *testing.T) {
	for _, after := range []time.Duration{0, ttl} {
		synctest.Test(t, func(t *testing.T) {
			ps, early, token := markedAway(t, 0, after)
			for _, p := range ps[1:] {
				p.lag.Store(int64(10 * time.Millisecond)) // the first answers first
			}
			early.Request(context.Background(), try(claim("other")))
			pass(time.Second)
			if n := ps[:1].having(t, "~life"); n != 0 {
				t.Errorf("a node that restarted without anything, alone, is marked as one that remembers")
			}
			pass(ttl)
			ps[1].hang()
			defer ps[1].goOn()
			var d *client = ps.client(t)                         // that sees all this for the first time
			d.Request(context.Background(), try(claim("other"))) // it meets the nodes
			synctest.Wait()
			st, err := d.Request(context.Background(), try(claim("jobs")))
			if err == nil && st.Granted && st.Token <= token {
				t.Errorf("token %d after %d", st.Token, token)
			}
		})
	}
}

// Who was idle while nodes restarted, one after the other, has seen none of that. It does not take those that have
// lived for long since for nodes that have just forgotten all, and so mark one that has.
func TestNoMarkAfterAnIdleTime(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		idle := ps.client(t)
		settle(t, idle)
		ps[:2].each((*part).restart)
		pass(2 * time.Hour) // tokens are kept for one
		ahead := uint64(time.Now().Add(time.Hour).UnixMicro())
		for _, p := range []*part{ps[0], ps[2]} {
			c := try(claim("jobs"))
			if st, _, err := p.store.Propose(context.Background(), c, ahead); err != nil || st.Token != ahead {
				t.Fatalf("%+v, %v", st, err)
			}
			release(t, p.store, c)
		}
		ps[2].restart()
		idle.Request(context.Background(), try(claim("other"))) // it meets all three
		pass(time.Second)
		if n := ps.having(t, "~life"); n != 0 {
			t.Errorf("%d nodes are marked", n)
		}
		pass(ttl)
		if st, err := idle.Request(context.Background(), try(claim("idle"))); err != nil || !st.Granted {
			t.Errorf("the idle client is told %+v, %v", st, err)
		}
		ps[0].hang()
		defer ps[0].goOn()
		st, err := ps.client(t).Request(context.Background(), try(claim("jobs")))
		if err == nil && st.Granted && st.Token <= ahead {
			t.Errorf("token %d was given after %d", st.Token, ahead)
		}
	})
}
