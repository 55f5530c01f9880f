package drivertest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

var requestRows = []row{
	{
		name: "uncontended",
		why:  "a claim that nobody is ahead of is granted by the request itself",
		run: func(e *env) {
			c := e.claim()
			st := e.acquireAll(c)
			if st.Contended || st.Revoked || st.Retry != 0 {
				e.Errorf("got %+v; nobody waits, nobody revoked it, and nothing blocks it", st)
			}
			if e.traits.Fenced && st.Token == 0 {
				e.Error("a granted claim has no token")
			}
			e.release(e.d, c, st)
			e.queued()
		},
	},
	{
		name: "repeated request",
		why:  "a request whose answer was lost is repeated, and must answer about the same claim",
		run: func(e *env) {
			c, first := e.hold(e.claim())
			e.keepsToken(first, e.acquire(e.d, c))
			e.queued(c)
		},
	},
	{
		name: "repeated request of a waiting claim",
		why:  "token and place of a queued claim never change",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			a, b := e.claim(), e.claim()
			first := e.enqueue(e.d, a)
			e.enqueue(e.other, b)
			again := e.enqueue(e.d, renewal(a, first))
			e.keepsToken(first, again)
			e.queued(holder, a, b)
			e.release(e.d, holder, held)
			e.await(e.d, a, again)
			e.enqueue(e.other, b)
		},
		needs: fifo,
	},
	{
		name: "weight and limit stay",
		why:  "weight and limit of a queued claim never change, or the granted claims would not fit any more",
		run: func(e *env) {
			c, st := e.hold(e.units(1, 3))
			greedy := renewal(c, st)
			greedy.Weight, greedy.Limit = 3, 3
			e.acquire(e.d, greedy)
			e.acquire(e.other, e.units(2, 3))
		},
		needs: weighted,
	},
	{
		name: "two clients",
		why:  "the lock is one for all clients of a store",
		run: func(e *env) {
			mine, held, theirs, waiting := e.contest()
			got := e.handOver(mine, held, theirs, waiting)
			e.release(e.other, theirs, got)
			e.queued()
		},
	},
	{
		name: "claim of another client",
		why:  "a claim belongs to its ID, not to a connection: undo may run on another one",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			e.release(e.other, c, st)
			_, err := e.ask(e.d, renewal(c, st))
			e.isGone(err, "renewing after another connection released it")
			e.acquire(e.other, e.claim())
		},
	},
	{
		name: "another client renews nothing",
		why:  "a claim that ends with its client would end under whoever believed that it had renewed it",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			for _, again := range []driver.Claim{c, renewal(c, st)} {
				if got, err := e.other.Request(context.Background(), again); err == nil {
					e.Errorf("a request of another client under the token %d got %+v", again.Token, got)
				}
			}
			e.keepsToken(st, e.acquire(e.d, renewal(c, st)))
			e.queued(c)
			e.release(e.other, c, st)
		},
		needs: attached,
		exact: true,
	},
	{
		name: "no wait",
		why:  "a claim that would not wait leaves no trace, so those behind it are not held up",
		run: func(e *env) {
			holder, next, tried := e.claim(), e.claim(), e.try()
			held := e.acquire(e.d, holder)
			e.enqueue(e.other, tried)
			e.queued(holder)
			waiting := e.enqueue(e.other, next)
			e.eventually("the holder learns that somebody waits", func() bool {
				return e.acquire(e.d, renewal(holder, held)).Contended
			})
			got := e.handOver(holder, held, next, waiting)
			e.release(e.other, next, got)
			e.acquire(e.d, tried) // no trace, not even that its ID was used
		},
		exact: true,
	},
	{
		name: "no wait is not contention",
		why:  "a refused claim leaves no trace, so the holder is not told that others wait",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			e.enqueue(e.other, e.try())
			if st := e.acquire(e.d, renewal(holder, held)); st.Contended {
				e.Error("Contended, though nobody waits")
			}
		},
		exact: true,
	},
	{
		name: "no wait, but free",
		why:  "a claim that would not wait is like any other once it is granted",
		run: func(e *env) {
			c, st := e.hold(e.try())
			e.keepsToken(st, e.acquire(e.d, renewal(c, st)))
			e.queued(c)
			e.release(e.d, c, st)
		},
	},
	{
		name: "no overtaking",
		why:  "a claim that would not wait goes to the end like any other: it never overtakes",
		run: func(e *env) {
			reader, held := e.hold(e.reader())
			writer := e.writer()
			e.enqueue(e.other, writer)
			tried := e.reader()
			tried.Queue = false
			e.enqueue(e.d, tried)
			e.queued(reader, writer)
			e.release(e.d, reader, held)
		},
		needs: all(weighted, fifo),
	},
	{
		name: "renewal of nothing",
		why:  "a request with a token is a renewal: it must never queue a claim that is not there",
		run: func(e *env) {
			c := e.claim()
			c.Token = 12345
			_, err := e.ask(e.d, c)
			e.isGone(err, "renewing a claim that never was")
			e.queued()
		},
	},
	{
		name: "renewal under another token",
		why:  "the claim must still be there under this token, or the section that the token guards was not exclusive",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			wrong := renewal(c, st)
			wrong.Token++
			_, err := e.ask(e.d, wrong)
			e.isGone(err, "renewing under a token that the claim does not have")
			e.acquire(e.d, renewal(c, st))
			e.queued(c)
		},
		needs: fenced,
	},
	{
		name: "contended",
		why:  "a holder that knows that others wait does not keep the lock for long",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			a, b := e.claim(), e.claim()
			waitA, waitB := e.enqueue(e.other, a), e.enqueue(e.other, b)
			e.contended(e.d, holder, held, true)
			e.contended(e.other, a, waitA, true)
			e.contended(e.other, b, waitB, false)
			e.release(e.other, b, waitB)
			e.contended(e.other, a, waitA, false)
			e.release(e.other, a, waitA)
			e.contended(e.d, holder, held, false)
		},
		needs: fifo,
	},
	{
		name: "tokens",
		why:  "tokens of a name are unique and grow in grant order, or a stale holder could not be told from the next",
		run: func(e *env) {
			last := uint64(0)
			for i := range 20 {
				d := []*Facade{e.d, e.other}[i%2]
				c := e.claim()
				st := e.acquire(d, c)
				if st.Token <= last {
					e.Fatalf("grant %d has token %d, the one before had %d", i, st.Token, last)
				}
				last = st.Token
				e.release(d, c, st)
			}
		},
		needs: fenced,
	},
	{
		name: "tokens in the queue",
		why:  "who is granted later has the greater token, however long both waited",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			a, b := e.claim(), e.claim()
			waitA, waitB := e.enqueue(e.d, a), e.enqueue(e.other, b)
			e.release(e.d, holder, held)
			gotA := e.await(e.d, a, waitA)
			gotB := e.handOver(a, gotA, b, waitB)
			if held.Token >= gotA.Token || gotA.Token >= gotB.Token {
				e.Errorf("tokens %d, %d, %d in grant order", held.Token, gotA.Token, gotB.Token)
			}
		},
		needs: all(fifo, fenced),
	},
	{
		name: "token of a waiter",
		why:  "the token is known from the start, where the place in the queue is the order of grants",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			if waiting.Token <= held.Token {
				e.Errorf("the waiter's token is %d, the holder's %d", waiting.Token, held.Token)
			}
			e.release(e.d, holder, held)
			if got := e.await(e.other, next, waiting); got.Token != waiting.Token {
				e.Errorf("the token was %d while waiting and is %d now", waiting.Token, got.Token)
			}
		},
		needs: all(fifo, fenced),
	},
}

// keepsToken fails unless two answers about a claim name the same token.
func (e *env) keepsToken(first, again driver.Status) {
	e.Helper()
	if again.Token != first.Token {
		e.Errorf("token %d, then %d for the same claim", first.Token, again.Token)
	}
}

// contended fails unless renewing the claim tells whether others wait behind it.
func (e *env) contended(d *Facade, c driver.Claim, st driver.Status, want bool) {
	e.Helper()
	if got := e.request(d, renewal(c, st)); got.Contended != want {
		e.Errorf("Contended is %v, want %v", got.Contended, want)
	}
}
