package drivertest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

var proposeRows = []row{
	{
		name: "propose",
		why: "many engines agree on one token when each takes a greater one, refuses a lesser one, " +
			"and says which it had",
		run: func(e *env) {
			a := e.try()
			first := e.settles(a)
			if st := e.propose(a, first); !st.Granted || st.Token != first {
				e.Errorf("proposing the claim's own token %d again: %+v", first, st)
			}
			if st := e.acquire(e.d, renewal(a, driver.Status{Token: first})); st.Token != first {
				e.Errorf("the claim has token %d, proposed was %d", st.Token, first)
			}
			e.queued(a)
			e.release(e.d, a, driver.Status{Token: first})
			b := e.try()
			if st := e.propose(b, first); !st.Granted || st.Token <= first {
				e.Errorf("proposing a token that another claim had, %d: %+v", first, st)
			}
			if second := e.settles(b); second <= first {
				e.Errorf("token %d after %d", second, first)
			}
		},
		needs: does(driver.OpPropose),
	},
	{
		name: "propose on a taken lock",
		why:  "a proposal does not queue, and changes nothing for the holder",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			b := e.claim()
			if st := e.propose(b, held.Token+1000); st.Granted {
				e.Errorf("granted though another holds the lock: %+v", st)
			}
			e.queued(holder)
			e.acquire(e.d, renewal(holder, held))
			e.release(e.d, holder, held)
			if got := e.settles(b); got <= held.Token {
				e.Errorf("token %d after %d", got, held.Token)
			}
		},
		needs: does(driver.OpPropose),
		exact: true,
	},
	{
		name: "propose what has ended",
		why:  "a late copy of a proposal must not take the lock for a claim that nobody wants any more",
		run: func(e *env) {
			for _, c := range append(e.series(2), e.claim()) {
				c.Queue = false
				token := e.settles(c)
				e.release(e.d, c, driver.Status{Token: token})
				_, err := e.proposeErr(e.other, c, token+1)
				e.isGone(err, "proposing a claim that was released")
				holder, held := e.hold(e.claim())
				_, err = e.proposeErr(e.other, c, held.Token+1)
				e.isGone(err, "proposing a claim that was released, while another holds the lock")
				e.release(e.d, holder, held)
			}
		},
		needs: does(driver.OpPropose),
	},
	{
		name: "requests go on from proposals",
		why:  "tokens of a name grow, whoever chose them",
		run: func(e *env) {
			a, b := e.try(), e.claim()
			token := e.settles(a) + 1_000_000_000_000
			if st := e.propose(a, token); st.Token != token {
				e.Fatalf("proposing %d: %+v", token, st)
			}
			e.release(e.d, a, driver.Status{Token: token})
			if st := e.acquire(e.d, b); st.Token <= token {
				e.Errorf("token %d after %d", st.Token, token)
			}
		},
		needs: all(does(driver.OpPropose), fenced),
	},
	{
		name: "vote",
		why:  "a quorum must learn that an engine was started anew, and has perhaps forgotten what it granted",
		run: func(e *env) {
			c := e.try()
			token := e.settles(c)
			st, before := e.vote(e.d, c, token)
			if !st.Granted || st.Token != token {
				e.Errorf("voting for the claim's own token %d: %+v", token, st)
			}
			if _, after := e.vote(e.other, c, token); after.ID != before.ID || after.Age < before.Age {
				e.Errorf("the engine was in the life %+v, and is in %+v without a restart", before, after)
			}
			mark := e.claim()
			mark.ID = before.ID
			if err := driver.Validate(mark, e.traits); err != nil {
				e.Errorf("the name of a life should be one for a claim: %v", err)
			}
		},
		needs: does(driver.OpPropose),
	},
	{
		name: "life",
		why:  "a quorum must learn that two of its nodes are one engine, which has one vote, though its names differ",
		run: func(e *env) {
			one, other := e.life(e.d), e.life(e.other)
			if one.ID == "" || one.ID != other.ID {
				e.Errorf("two clients of one engine find it in the lives %+v and %+v", one, other)
			}
			if does(driver.OpPropose)(e.d) {
				c := e.try()
				if _, voted := e.vote(e.d, c, e.settles(c)); voted.ID != one.ID || voted.Age < one.Age {
					e.Errorf("the engine voted in the life %+v, and before that was in %+v", voted, one)
				}
			}
		},
		needs: does(driver.OpLife),
	},
}

func (e *env) life(d *Facade) driver.Life {
	e.Helper()
	life, _, err := persist(e, func(ctx context.Context) (driver.Life, error) { return d.Life(ctx) })
	if err != nil {
		e.Fatalf("Life: %v", err)
	}
	return life
}

func (e *env) vote(d *Facade, c driver.Claim, token uint64) (driver.Status, driver.Life) {
	e.Helper()
	var life driver.Life
	st, _, err := persist(e, func(ctx context.Context) (st driver.Status, err error) {
		st, life, err = d.Propose(ctx, c, token)
		return st, err
	})
	if err != nil {
		e.Fatalf("Vote(%s, %d): %v", c.ID, token, err)
	}
	return st, life
}

// proposeErr proposes a token for c and returns the answer.
func (e *env) proposeErr(d *Facade, c driver.Claim, token uint64) (driver.Status, error) {
	e.Helper()
	st, _, err := persist(e, func(ctx context.Context) (driver.Status, error) {
		st, _, err := d.Propose(ctx, c, token)
		return st, err
	})
	return st, err
}

// propose proposes a token for c, which must be answered.
func (e *env) propose(c driver.Claim, token uint64) driver.Status {
	e.Helper()
	st, err := e.proposeErr(e.d, c, token)
	if err != nil {
		e.Fatalf("Propose(%s, %d): %v", c.ID, token, err)
	}
	return st
}

// settles proposes until the claim has the token that was proposed.
func (e *env) settles(c driver.Claim) uint64 {
	e.Helper()
	for token, tries := uint64(1), 0; tries < 10; tries++ {
		st := e.propose(c, token)
		if !st.Granted {
			e.Fatalf("not granted, though the lock is free: %+v", st)
		}
		if st.Token == token {
			return token
		}
		token = st.Token + 1
	}
	e.Fatal("each proposal was refused, though each was greater than the greatest token so far")
	return 0
}
