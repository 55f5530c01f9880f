package drivertest

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var expiryRows = []row{
	{
		name: "expiry frees",
		why:  "a claim that is not renewed ends by itself, and the next in line learns from Retry when to ask",
		run: func(e *env) {
			dead, next := e.short(e.claim()), e.claim()
			held := e.acquire(e.d, dead)
			waiting := e.enqueue(e.other, next)
			got := e.await(e.other, next, waiting)
			e.queued(next)
			e.isDead(e.d, dead)
			_, err := e.ask(e.d, renewal(dead, held))
			e.isGone(err, "renewing a claim that expired")
			e.isGone(e.dropErr(e.d, dead, held), "releasing a claim that expired")
			e.isGone(e.dropErr(e.d, dead, driver.Status{}), "releasing by ID alone a claim that expired")
			e.acquire(e.other, renewal(next, got))
		},
		exact: true,
	},
	{
		name: "stale release",
		why:  "who was paused for longer than its claim lived gives back nothing, least of all another's claim",
		run: func(e *env) {
			dead, next := e.short(e.claim()), e.claim()
			held := e.acquire(e.d, dead)
			got := e.await(e.other, next, e.enqueue(e.other, next))
			e.isGone(e.dropErr(e.d, dead, held), "releasing a claim that expired")
			e.queued(next)
			e.acquire(e.other, renewal(next, got))
		},
		exact: true,
	},
	{
		name: "expiry without witnesses",
		why:  "an expired claim is ignored, though nobody waited for its end",
		run: func(e *env) {
			dead, held := e.hold(e.short(e.claim()))
			e.eventually("the claim expires", func() bool { return e.free() })
			e.queued()
			e.isDead(e.d, dead)
			e.isGone(e.dropErr(e.d, dead, held), "releasing a claim that expired")
			if st := e.acquire(e.other, e.claim()); st.Token <= held.Token && e.traits.Fenced {
				e.Errorf("token %d after %d", st.Token, held.Token)
			}
		},
		exact: true,
		late:  true,
	},
	{
		name: "not before its time",
		why:  "a claim lives for its TTL, or two would hold the lock",
		run: func(e *env) {
			sent := time.Now()
			st := e.acquire(e.d, e.short(e.claim()))
			for {
				taken := !e.free()
				if time.Since(sent) >= st.TTL {
					return
				}
				if !taken {
					e.Fatalf("the lock is free %v after a request that was answered with TTL %v",
						time.Since(sent), st.TTL)
				}
				e.pass(st.TTL / 20)
			}
		},
		exact: true,
	},
	{
		name: "renewal extends",
		why:  "a claim that is renewed lives for its TTL from then on",
		run: func(e *env) {
			c := e.short(e.claim())
			e.outlives(e.d, c, e.acquire(e.d, c))
		},
		exact: true,
	},
	{
		name: "renewal of a waiting claim extends",
		why:  "a claim is kept alive in the same way whether it waits or is granted",
		run: func(e *env) {
			holder, c := e.claim(), e.short(e.claim())
			held := e.acquire(e.d, holder)
			st := e.enqueue(e.other, c)
			e.outlives(e.other, c, st)
			e.handOver(holder, held, c, st)
		},
		exact: true,
	},
	{
		name: "renewal for a shorter time",
		why:  "from a renewal on the claim lives for the TTL that it names",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			if st = e.acquire(e.d, e.short(renewal(c, st))); st.TTL >= c.TTL {
				e.Skip("this driver grants longer TTLs than were asked for")
			}
			next := e.claim()
			e.await(e.other, next, e.request(e.other, next))
		},
		exact: true,
	},
	{
		name: "waiting claims expire",
		why:  "every claim is leased, so dead waiters fall out of the queue by themselves",
		run: func(e *env) {
			holder, dead, last := e.claim(), e.short(e.claim()), e.claim()
			held, waitDead, waitLast := e.inLine(holder, dead, last)
			e.eventually("the last becomes the next in line", func() bool {
				if waitLast = e.request(e.d, renewal(last, waitLast)); waitLast.Granted {
					e.Fatal("granted, while the holder lives")
				}
				return waitLast.Retry > 0
			})
			e.remain(holder, last)
			_, err := e.ask(e.other, renewal(dead, waitDead))
			e.isGone(err, "renewing a waiting claim that expired")
			e.isDead(e.other, dead)
			e.release(e.d, holder, held)
			e.await(e.d, last, waitLast)
		},
		needs: fifo,
		exact: true,
	},
	{
		name: "a dead waiter lets others in",
		why:  "expired claims are ignored, also those that wait ahead of claims that fit",
		run: func(e *env) {
			reader, writer, last := e.reader(), e.short(e.writer()), e.reader()
			_, _, st := e.inLine(reader, writer, last)
			e.eventually("the reader behind the dead writer is granted", func() bool {
				st = e.request(e.d, renewal(last, st))
				return st.Granted
			})
			e.remain(reader, last)
		},
		needs: all(weighted, fifo),
		exact: true,
	},
	{
		name: "a crowd of dead",
		why:  "any number of claims may have expired when the next request comes",
		run: func(e *env) {
			e.acquire(e.d, e.short(e.claim()))
			for range 5 {
				e.enqueue(e.d, e.short(e.claim()))
			}
			last := e.claim()
			st := e.enqueue(e.other, last)
			e.eventually("the one that lives is granted", func() bool {
				st = e.request(e.other, renewal(last, st))
				return st.Granted
			})
			e.remain(last)
		},
		exact: true,
	},
	{
		name: "retry",
		why:  "the next in line, and nobody else, asks again when the claim that blocks it expires",
		run: func(e *env) {
			holder, next, behind := e.claim(), e.claim(), e.claim()
			held, waitNext, waitBehind := e.inLine(holder, next, behind)
			ttl := max(holder.TTL, held.TTL)
			ttl += ttl / 100 // the server may round it up, while the answer to a slow request is sure of less
			if waitNext.Retry <= 0 || waitNext.Retry > ttl {
				e.Errorf("the next in line got Retry %v, the holder has %v", waitNext.Retry, ttl)
			}
			if waitBehind.Retry != 0 {
				e.Errorf("a claim further back got Retry %v", waitBehind.Retry)
			}
			if again := e.acquire(e.d, renewal(holder, held)); again.Retry != 0 {
				e.Errorf("the holder got Retry %v", again.Retry)
			}
			e.release(e.other, next, waitNext)
			if st := e.enqueue(e.d, renewal(behind, waitBehind)); st.Retry <= 0 {
				e.Error("the claim that became the next in line got no Retry")
			}
		},
		needs: fifo,
	},
	{
		name: "retry at the first end",
		why:  "any of the claims ahead may make room, so the one that ends first counts",
		run: func(e *env) {
			e.acquire(e.d, e.reader())
			brief := e.short(e.reader())
			ttl := max(brief.TTL, e.acquire(e.d, brief).TTL)
			e.acquire(e.d, e.reader())
			st := e.enqueue(e.other, e.writer())
			if st.Retry <= 0 || st.Retry > ttl {
				e.Excuse(e.lapses)
				e.Errorf("got Retry %v, want at most the %v of the claim ahead that ends first", st.Retry, ttl)
			}
		},
		needs: weighted,
		exact: true,
	},
	{
		name: "the dead stay dead for a TTL",
		why:  "a duplicate may be as late as a TTL, and must not queue an orphan",
		run: func(e *env) {
			released, st := e.hold(e.short(e.claim()))
			broken := e.short(e.claim())
			sent := time.Now()
			e.release(e.d, released, st)
			e.isGone(e.dropErr(e.d, broken, driver.Status{}), "releasing a claim that never was")
			e.staysGone(sent, released, broken)
		},
		exact: true,
		late:  true,
	},
	{
		name: "the expired stay dead for a TTL",
		why:  "a paused client may wake at any time, and must not queue under an ID that it believes to hold",
		run: func(e *env) {
			sent := time.Now()
			c, st := e.hold(e.short(e.claim()))
			e.pass(st.TTL + st.TTL/10)
			e.staysGone(sent.Add(st.TTL), c)
		},
		exact: true,
		late:  true,
	},
	{
		name: "dead for its longest TTL",
		why: "a request from before the TTL was made shorter may be as late as the TTL that it names, " +
			"and must not queue an orphan",
		run: func(e *env) {
			expired, released := e.claim(), e.claim()
			expired.ID = driver.NewID() // IDs of series may be remembered in another way
			e.shorten(e.d, expired, e.acquire(e.d, expired))
			e.eventually("the claim expires", e.free)
			st := e.acquire(e.d, released)
			e.release(e.d, e.shorten(e.d, released, st), st)
			ended := []driver.Claim{expired, released}
			if e.traits.Detach { // then another client can renew it
				elsewhere := e.claim()
				elsewhere.ID = driver.NewID()
				e.shorten(e.other, elsewhere, e.acquire(e.d, elsewhere))
				e.eventually("the claim that was renewed elsewhere expires", e.free)
				ended = append(ended, elsewhere)
			}
			for range 3 {
				e.pass(e.short(expired).TTL)
				e.free() // which lets the driver forget what it may
			}
			for range manyEnds {
				e.free() // some forget for each so many
			}
			for _, late := range ended {
				_, err := e.again(late)
				e.isGone(err, "requesting again, with its first TTL, an ID that ended with a shorter one")
			}
			e.queued()
		},
		exact: true,
	},
	{
		name: "nothing moves a dead claim",
		why:  "a renewal that arrives after the end must not make the claim live again",
		run: func(e *env) {
			c, st := e.hold(e.short(e.claim()))
			e.eventually("the claim expires", func() bool { return e.free() })
			for range 3 {
				_, err := e.ask(e.d, renewal(c, st))
				e.isGone(err, "renewing a claim that expired")
			}
			e.queued()
		},
		exact: true,
	},
}

// manyEnds is how many claims end until a driver has surely forgotten what it may.
const manyEnds = 40

// free reports whether the lock could be had, and takes nothing.
func (e *env) free() bool {
	e.Helper()
	c := e.try()
	st := e.request(e.other, c)
	if st.Granted {
		e.release(e.other, c, st)
	}
	return st.Granted
}

// shorten renews a claim as one that is left alone for the rest of a short time, and returns it as it is then.
func (e *env) shorten(d *Facade, c driver.Claim, st driver.Status) driver.Claim {
	e.Helper()
	brief := e.short(renewal(c, st))
	brief.Detached = e.traits.Detach
	if got := e.acquire(d, brief); got.TTL >= c.TTL {
		e.Skip("this driver grants longer TTLs than were asked for")
	}
	return brief
}

// outlives keeps a claim for several times its TTL.
func (e *env) outlives(d *Facade, c driver.Claim, st driver.Status) {
	e.Helper()
	sent := e.lapses.Add(-c.TTL)
	for range 8 {
		e.pass(st.TTL / 4)
		lapses := sent.Add(st.TTL * 3 / 4) // or somewhat later, if the renewal at sent was applied
		sent = time.Now()
		got, err := e.ask(d, renewal(c, st))
		if err != nil || got.Granted != st.Granted {
			e.Excuse(lapses)
		}
		switch {
		case errors.Is(err, driver.ErrGone):
			e.Fatal("the claim is gone, though it was renewed")
		case err != nil:
			e.Fatal(err)
		case got.Token != st.Token || got.Granted != st.Granted:
			e.Fatalf("renewal changed %+v to %+v", st, got)
		}
	}
}

// isDead fails unless the ID of a short claim that expired is barred, which it is for a TTL.
func (e *env) isDead(d *Facade, c driver.Claim) {
	e.Helper()
	_, err := e.ask(d, c)
	if err == nil {
		e.Excuse(e.lapses.Add(c.TTL))
	}
	e.isGone(err, "requesting an ID that expired")
}

// staysGone requests the claims again and again for their TTL since an instant; each time they must be gone.
func (e *env) staysGone(since time.Time, cs ...driver.Claim) {
	e.Helper()
	for {
		for _, c := range cs {
			_, err := e.requester(c).Request(context.Background(), c)
			if time.Since(since) >= c.TTL {
				return
			}
			e.isGone(err, "requesting an ID that ended less than a TTL ago")
		}
		e.pass(cs[0].TTL / 10)
	}
}
