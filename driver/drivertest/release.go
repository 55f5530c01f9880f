package drivertest

import "github.com/holdfast-go/holdfast/driver"

var releaseRows = []row{
	{
		name: "release frees",
		why:  "release takes the claim out of the queue",
		run: func(e *env) {
			c := e.claim()
			e.release(e.d, c, e.acquire(e.d, c))
			e.queued()
			e.acquire(e.other, e.claim())
		},
	},
	{
		name: "repeated release",
		why:  "a release whose answer was lost is repeated, and must not look like a lost lock",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			e.release(e.d, c, st)
			next := e.claim()
			e.acquire(e.other, next)
			for range 3 {
				e.release(e.d, c, st)
			}
			e.queued(next)
			e.enqueue(e.d, e.claim())
		},
	},
	{
		name: "request after release",
		why:  "a late duplicate of a request must not queue an orphan",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			e.release(e.d, c, st)
			_, err := e.ask(e.d, c)
			e.isGone(err, "requesting an ID that was released")
			_, err = e.ask(e.other, renewal(c, st))
			e.isGone(err, "renewing a claim that was released")
			tried := c
			tried.Queue = false
			_, err = e.again(tried)
			e.isGone(err, "requesting without waiting an ID that was released")
			e.queued()
		},
		late: true,
	},
	{
		name: "release of a waiting claim",
		why:  "who gives up leaves the queue, wherever it was, and the others keep their places",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			a, b, c := e.claim(), e.claim(), e.claim()
			waitA, waitB, waitC := e.enqueue(e.d, a), e.enqueue(e.other, b), e.enqueue(e.d, c)
			e.release(e.other, b, waitB)
			e.queued(holder, a, c)
			_, err := e.ask(e.other, b)
			e.isGone(err, "requesting an ID that gave up")
			e.release(e.d, holder, held)
			gotA := e.await(e.d, a, waitA)
			e.release(e.d, a, gotA)
			e.await(e.d, c, waitC)
		},
		needs: fifo,
	},
	{
		name: "release of the last in line",
		why:  "the end of the queue is a place like any other",
		run: func(e *env) {
			holder, last := e.claim(), e.claim()
			e.acquire(e.d, holder)
			e.release(e.other, last, e.enqueue(e.other, last))
			e.queued(holder)
			next := e.claim()
			e.enqueue(e.other, next)
			e.queued(holder, next)
		},
	},
	{
		name:  "release under another token",
		why:   "release compares ID and token, so that a stale holder never releases another's grant",
		run:   func(e *env) { releaseUnderAnotherToken(e, e.claim()) },
		needs: fenced,
	},
	{
		name:  "release of a reader under another token",
		why:   "one who reads alone has as much to lose",
		run:   func(e *env) { releaseUnderAnotherToken(e, e.reader()) },
		needs: all(weighted, fenced),
	},
	{
		name: "release of another's claim",
		why:  "release compares the ID, never the name alone",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			e.isGone(e.dropErr(e.other, e.claim(), st), "releasing an ID that is not queued, under the holder's token")
			e.isGone(e.dropErr(e.other, e.claim(), driver.Status{}), "releasing an ID that is not queued")
			e.queued(c)
			e.acquire(e.d, renewal(c, st))
		},
	},
	{
		name: "release by ID alone",
		why:  "the undo of a request whose answer was lost knows no token",
		run: func(e *env) {
			holder, waiter := e.claim(), e.claim()
			e.acquire(e.d, holder)
			e.enqueue(e.other, waiter)
			e.release(e.other, waiter, driver.Status{})
			e.queued(holder)
			e.release(e.d, holder, driver.Status{})
			e.release(e.d, holder, driver.Status{})
			e.queued()
			_, err := e.ask(e.d, holder)
			e.isGone(err, "requesting an ID that was released")
		},
	},
	{
		name: "undo before the request",
		why:  "a release by ID alone bars a request that is still under way, or it would queue an orphan",
		run: func(e *env) {
			c := e.claim()
			e.isGone(e.dropErr(e.d, c, driver.Status{}), "releasing a claim that never was")
			for _, queue := range []bool{true, false} {
				c.Queue = queue
				_, err := e.ask(e.other, c)
				e.isGone(err, "requesting an ID that was undone")
			}
			e.isGone(e.dropErr(e.d, c, driver.Status{}), "repeating the release of a claim that never was")
			e.queued()
			e.acquire(e.d, e.claim())
		},
	},
	{
		name: "undo beside a holder",
		why:  "barring an ID touches nobody else",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			late := e.claim()
			e.isGone(e.dropErr(e.other, late, driver.Status{}), "releasing a claim that never was")
			_, err := e.ask(e.other, late)
			e.isGone(err, "requesting an ID that was undone")
			e.queued(holder)
			e.acquire(e.d, renewal(holder, held))
		},
	},
}

func releaseUnderAnotherToken(e *env, c driver.Claim) {
	c, st := e.hold(c)
	for _, wrong := range []uint64{st.Token - 1, st.Token + 1, 1} {
		if wrong == 0 || wrong == st.Token {
			continue
		}
		err := e.dropErr(e.d, c, driver.Status{Token: wrong})
		e.isGone(err, "releasing under a token that the claim does not have")
	}
	e.queued(c)
	e.acquire(e.d, renewal(c, st))
	e.release(e.d, c, st)
	e.isGone(e.dropErr(e.d, c, driver.Status{Token: st.Token + 2}), "repeating a release under another token")
}
