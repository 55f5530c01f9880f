package drivertest

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

var queueRows = []row{
	{
		name:  "queue of a lock that is free",
		why:   "no claims is an answer, not an error",
		run:   func(e *env) { e.queued() },
		needs: listed,
	},
	{
		name: "queue",
		why:  "people see who holds a lock and who waits, in order and with what they asked for",
		run: func(e *env) {
			a, b, c := e.units(1, 3), e.units(2, 3), e.units(3, 3)
			e.showsAll(a, b, c)
		},
		needs: all(listed, weighted, fifo),
	},
	{
		name:  "queue of a mutex",
		why:   "people see who holds a lock and who waits, in order and with what they asked for",
		run:   func(e *env) { e.showsAll(e.claim(), e.claim()) },
		needs: all(listed, fifo),
	},
	{
		name: "head of a queue",
		why:  "who asks for the first claims gets these and no more, however many there are",
		run: func(e *env) {
			e.peeks(1)
			a, b, c := e.claim(), e.claim(), e.claim()
			st := e.acquire(e.d, a)
			e.peeks(1, a)
			e.enqueue(e.other, b)
			e.enqueue(e.d, c)
			e.peeks(1, a)
			e.peeks(2, a, b)
			e.peeks(9, a, b, c)
			e.release(e.d, a, st)
			e.peeks(1, b)
		},
		needs: all(listed, fifo),
	},
	{
		name: "odd owners and values",
		why:  "owner and value are data: no character in them has a meaning",
		run: func(e *env) {
			c := e.claim()
			c.Owner, c.Value = `o'wner "\ %s {} $1 ☃`, "line\r\n\ttwo; -- ' \" \\ [] * ? 🔒"
			e.shows(c, e.acquire(e.d, c), e.queue()[0])
			e.acquire(e.d, c)
			e.shows(c, e.acquire(e.d, c), e.queue()[0])
		},
		needs: listed,
	},
	{
		name: "a renewal keeps owner and value",
		why: "a process that goes on with a claim knows its ID and token, and not what others see of it: " +
			"a leader that resumes must stay reachable for its followers",
		run: func(e *env) {
			held := e.described("holder")
			st := e.acquire(e.d, held)
			e.keepsDescription(held, st)
			waiting := e.described("waiter")
			second := e.enqueue(e.d, waiting)
			e.keepsDescription(waiting, second)
			e.keepsDescription(held, st)
			e.release(e.d, held, st)
			e.eventually("the waiter has the lock", func() bool {
				return e.request(e.d, renewal(waiting, second)).Granted
			})
			e.keepsDescription(waiting, second)
		},
		needs: all(listed, fifo),
	},
	{
		name: "who resumes a claim keeps owner and value",
		why:  "followers of a leader that was restarted must still find it",
		run: func(e *env) {
			held := e.described("holder")
			st := e.acquire(e.d, held)
			alone := renewal(held, st)
			alone.Detached = true
			e.acquire(e.d, alone)
			resumed := alone
			resumed.Owner, resumed.Value = "", ""
			for range 2 { // the first adopts the claim, the second renews what was adopted
				e.acquire(e.other, resumed)
				e.describes(held)
				e.renewWith(e.other, resumed)
				e.describes(held)
			}
		},
		needs: all(listed, detaches),
	},
	{
		name: "time left",
		why:  "what is left of a claim shrinks, and a renewal restores it",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			var before driver.Entry
			e.eventually("time passes", func() bool {
				before = e.queue()[0]
				return before.Left < st.TTL-st.TTL/10
			})
			e.acquire(e.d, renewal(c, st))
			after := e.queue()[0]
			if after.Left <= before.Left {
				e.Errorf("%v were left before the renewal, %v after it", before.Left, after.Left)
			}
			if !after.Since.Equal(before.Since) {
				e.Errorf("queued since %v, after a renewal since %v", before.Since, after.Since)
			}
		},
		needs: listed,
		exact: true,
	},
}

// peeks fails unless the first n claims are these.
func (e *env) peeks(n int, want ...driver.Claim) {
	e.Helper()
	got, _, err := persist(e, func(ctx context.Context) ([]driver.Entry, error) {
		return e.other.Peek(ctx, e.name, n)
	})
	if err != nil || !slices.Equal(ids(claims(got)), ids(want)) {
		e.Errorf("the first %d of the queue are %v, error %v; want %v", n, ids(claims(got)), err, ids(want))
	}
}

// showsAll requests the claims, of which the last must wait, and compares what the queue says of each.
func (e *env) showsAll(cs ...driver.Claim) {
	e.Helper()
	sts := make([]driver.Status, len(cs))
	for i := range cs {
		cs[i].Owner, cs[i].Value = "owner of "+cs[i].ID, "value of "+cs[i].ID
		sts[i] = e.request(e.client(i), cs[i])
	}
	entries := e.queue()
	if len(entries) != len(cs) {
		e.Fatalf("the queue is %v, want %v", ids(claims(entries)), ids(cs))
	}
	for i := range cs {
		e.shows(cs[i], sts[i], entries[i])
		if i > 0 && entries[i].Since.Before(entries[i-1].Since) {
			e.Errorf("a claim was queued at %v, the one behind it at %v", entries[i-1].Since, entries[i].Since)
		}
	}
	if entries[len(cs)-1].Granted {
		e.Error("the last claim should wait")
	}
}

// described returns a claim that says whose it is, and has a value.
func (e *env) described(whose string) driver.Claim {
	c := e.claim()
	c.Owner, c.Value = "the "+whose, "address of the "+whose
	return c
}

// keepsDescription renews a claim without owner and value and with others, alone and in a batch, and fails unless the
// queue goes on to show those that it was queued with.
func (e *env) keepsDescription(c driver.Claim, st driver.Status) {
	e.Helper()
	for _, other := range []string{"", "another"} {
		again := renewal(c, st)
		again.Owner, again.Value = other, other
		e.request(e.d, again)
		e.describes(c)
		e.renew(again)
		e.describes(c)
	}
}

// describes fails unless the queue shows the claim with its owner and value.
func (e *env) describes(c driver.Claim) {
	e.Helper()
	for _, got := range e.queue() {
		if got.ID == c.ID {
			if got.Owner != c.Owner || got.Value != c.Value {
				e.Errorf("after a renewal the queue shows owner %q and value %q, want %q and %q",
					got.Owner, got.Value, c.Owner, c.Value)
			}
			return
		}
	}
	e.Errorf("after a renewal the queue does not show claim %s", c.ID)
}

// shows fails unless the entry is what c asked for and st answered.
func (e *env) shows(c driver.Claim, st driver.Status, got driver.Entry) {
	e.Helper()
	want := driver.Entry{
		Claim: driver.Claim{
			Name: c.Name, ID: c.ID, Weight: c.Weight, Limit: c.Limit, Owner: c.Owner, Value: c.Value, Token: st.Token,
		},
		Granted: st.Granted,
	}
	shown := driver.Entry{
		Claim: driver.Claim{
			Name: got.Name, ID: got.ID, Weight: got.Weight, Limit: got.Limit,
			Owner: got.Owner, Value: got.Value, Token: got.Token,
		},
		Granted: got.Granted,
	}
	if shown != want {
		e.Errorf("the queue shows\n\t%+v, want\n\t%+v", shown, want)
	}
	ttl := max(c.TTL, st.TTL) // the answer may have been sure of less than there is
	if got.Left <= 0 || got.Left > ttl {
		e.Errorf("%v are left of a TTL of %v", got.Left, ttl)
	}
	if got.Since.IsZero() {
		e.Error("the queue does not show since when")
	}
}
