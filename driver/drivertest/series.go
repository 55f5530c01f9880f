package drivertest

import "github.com/holdfast-go/holdfast/driver"

var seriesRows = []row{
	{
		name: "series",
		why: "a driver may remember only the greatest number of a series that ended, " +
			"and still bars late copies of all its requests",
		run: func(e *env) {
			old := e.series(3)
			for _, c := range old {
				e.release(e.d, c, e.acquire(e.d, c))
			}
			e.barred(old)
			next := following(old[2])
			st := e.acquire(e.d, next)
			e.barred(old)
			e.queued(next)
			e.release(e.d, next, st)
			e.release(e.d, next, st)
			e.barred(append(old, next))
			fresh := e.series(3) // nobody is late before the last of them has the lock
			for _, c := range fresh[:2] {
				e.release(e.d, c, e.acquire(e.d, c))
			}
			st = e.acquire(e.d, fresh[2])
			e.barred(fresh[:2])
			e.release(e.d, fresh[2], st)
			e.queued()
		},
		late: true,
	},
	{
		name: "series of several clients",
		why:  "what ended is known whoever had the lock since",
		run: func(e *env) {
			a, b, plain := e.series(2), e.series(2), e.claim()
			e.release(e.d, a[0], e.acquire(e.d, a[0]))
			e.release(e.other, b[0], e.acquire(e.other, b[0]))
			e.release(e.other, b[1], e.acquire(e.other, b[1]))
			e.release(e.d, plain, e.acquire(e.d, plain))
			st := e.acquire(e.d, a[1])
			e.barred(append(b, a[0], plain))
			e.release(e.d, a[1], st)
			e.barred(append(b, a[0], a[1], plain))
			e.queued()
		},
		late: true,
	},
	{
		name: "series in a queue",
		why:  "a waiting claim bars the smaller numbers of its series like one that has the lock",
		run: func(e *env) {
			holder, old, other := e.claim(), e.series(3), e.claim()
			e.release(e.other, old[0], e.acquire(e.other, old[0]))
			held := e.acquire(e.d, holder)
			e.release(e.other, old[1], e.enqueue(e.other, old[1]))
			waiting := e.enqueue(e.other, old[2])
			e.enqueue(e.d, other)
			e.barred(old[:2])
			st := e.handOver(holder, held, old[2], waiting)
			e.barred(old[:2])
			e.queued(old[2], other)
			e.release(e.other, old[2], st)
			e.barred(old)
			e.queued(other)
		},
		needs: fifo,
	},
	{
		name: "series that was undone",
		why:  "the next number may be used while the undo of the one before is under way, which must not touch it",
		run: func(e *env) {
			unknown := e.series(2)
			next := unknown[1]
			st := e.acquire(e.d, next)
			e.isGone(e.dropErr(e.other, unknown[0], driver.Status{}), "undoing a request that never arrived")
			e.barred(unknown[:1])
			e.acquire(e.d, renewal(next, st))
			e.queued(next)
			e.release(e.d, next, st)
		},
	},
	{
		name: "series that expired",
		why:  "a claim that expired is barred like one that was released",
		run: func(e *env) {
			old := e.series(2)
			for i, c := range old {
				old[i] = e.short(c)
			}
			e.release(e.d, old[0], e.acquire(e.d, old[0]))
			e.acquire(e.d, old[1])
			waiting := e.claim()
			e.await(e.other, waiting, e.enqueue(e.other, waiting))
			e.barred(old[1:])
			e.queued(waiting)
		},
	},
}

// series returns claims whose IDs are the first of a series.
func (e *env) series(n int) []driver.Claim {
	first := e.claim()
	first.ID = driver.NewID()
	claims := []driver.Claim{first}
	for len(claims) < n {
		claims = append(claims, following(claims[len(claims)-1]))
	}
	return claims
}

// following returns the claim that comes after c in its series.
func following(c driver.Claim) driver.Claim {
	c.ID = driver.NextID(c.ID)
	return c
}

// barred fails unless late copies of the requests for these claims find that they are gone.
func (e *env) barred(claims []driver.Claim) {
	e.Helper()
	for _, c := range claims {
		_, err := e.again(c)
		e.unlessForgotten(c)
		e.isGone(err, "requesting "+c.ID+" again")
		c.Queue = false
		_, err = e.again(c)
		e.unlessForgotten(c)
		e.isGone(err, "requesting "+c.ID+" again without waiting")
	}
}

// unlessForgotten skips the rest of a row whose claims expire when they did so longer ago than a
// driver must remember them.
func (e *env) unlessForgotten(c driver.Claim) {
	e.Helper()
	if !e.lapses.IsZero() {
		e.Excuse(e.lapses.Add(c.TTL))
	}
}
