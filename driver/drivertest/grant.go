package drivertest

import "github.com/holdfast-go/holdfast/driver"

var grantRows = []row{
	{
		name: "first come, first served",
		why:  "place in the queue is the order of arrival, and the order of grants",
		run: func(e *env) {
			const n = 10
			cs, sts := make([]driver.Claim, n), make([]driver.Status, n)
			for i := range cs {
				cs[i] = e.claim()
				sts[i] = e.request(e.client(i), cs[i])
			}
			e.queued(cs...)
			for i := range cs {
				sts[i] = e.await(e.client(i), cs[i], sts[i])
				if i < n-1 {
					e.enqueue(e.client(i+1), renewal(cs[i+1], sts[i+1]))
				}
				e.release(e.client(i), cs[i], sts[i])
			}
			e.queued()
		},
		needs: fifo,
	},
	{
		name: "readers share",
		why:  "claims of 1 unit of All fit together",
		run: func(e *env) {
			for i := range 5 {
				e.acquire(e.client(i), e.reader())
			}
			e.enqueue(e.d, e.writer())
		},
		needs: weighted,
	},
	{
		name: "writer excludes readers",
		why:  "a writer asks for all units",
		run: func(e *env) {
			writer, held := e.hold(e.writer())
			a, b := e.reader(), e.reader()
			waitA, waitB := e.enqueue(e.d, a), e.enqueue(e.other, b)
			e.release(e.d, writer, held)
			e.await(e.d, a, waitA)
			e.await(e.other, b, waitB)
		},
		needs: weighted,
	},
	{
		name: "readers behind a writer wait",
		why:  "the granted claims are a prefix of the queue, so readers never starve a writer",
		run: func(e *env) {
			first, writer, last := e.reader(), e.writer(), e.reader()
			held, waitW, waitR := e.inLine(first, writer, last)
			got := e.handOver(first, held, writer, waitW)
			e.enqueue(e.d, renewal(last, waitR))
			e.release(e.other, writer, got)
			e.await(e.d, last, waitR)
		},
		needs: all(weighted, fifo),
	},
	{
		name: "a writer that gives up lets readers in",
		why:  "the end of a waiting claim grants what it makes grantable",
		run: func(e *env) {
			first, writer, last := e.reader(), e.writer(), e.reader()
			_, waitW, waitR := e.inLine(first, writer, last)
			e.release(e.other, writer, waitW)
			e.await(e.d, last, waitR)
			e.queued(first, last)
		},
		needs: all(weighted, fifo),
	},
	{
		name: "semaphore",
		why:  "no more units are granted than the lock has",
		run: func(e *env) {
			a, b, c, d := e.units(1, 3), e.units(1, 3), e.units(1, 3), e.units(1, 3)
			e.acquire(e.d, a)
			heldB := e.acquire(e.other, b)
			e.acquire(e.d, c)
			waiting := e.enqueue(e.other, d)
			e.release(e.other, b, heldB)
			e.await(e.other, d, waiting)
		},
		needs: weighted,
	},
	{
		name: "a dead permit comes back",
		why:  "permits are leased, so who dies with one leaks none",
		run: func(e *env) {
			dead, alive, pair := e.short(e.units(1, 3)), e.units(1, 3), e.units(2, 3)
			e.acquire(e.d, dead)
			e.acquire(e.d, alive)
			st := e.enqueue(e.other, pair)
			e.eventually("two permits are free again", func() bool {
				st = e.request(e.other, renewal(pair, st))
				return st.Granted
			})
			e.enqueue(e.d, e.units(1, 3))
		},
		needs: weighted,
		exact: true,
	},
	{
		name: "a permit given back twice",
		why:  "permits are identified, so a repeated release makes no more of them",
		run: func(e *env) {
			twice, st := e.hold(e.units(1, 2))
			e.acquire(e.other, e.units(1, 2))
			for range 3 {
				e.release(e.d, twice, st)
			}
			e.acquire(e.d, e.units(1, 2))
			e.enqueue(e.other, e.units(1, 2))
		},
		needs: weighted,
	},
	{
		name: "a heavy claim is not overtaken",
		why:  "small claims behind a large one wait, or it might never be granted",
		run: func(e *env) {
			a, b := e.units(2, 3), e.units(1, 3)
			heldA := e.acquire(e.d, a)
			heldB := e.acquire(e.d, b)
			heavy, light := e.units(3, 3), e.units(1, 3)
			waitHeavy := e.enqueue(e.other, heavy)
			waitLight := e.enqueue(e.other, light)
			e.release(e.d, a, heldA)
			e.enqueue(e.other, renewal(heavy, waitHeavy))
			e.enqueue(e.other, renewal(light, waitLight))
			got := e.handOver(b, heldB, heavy, waitHeavy)
			e.enqueue(e.other, renewal(light, waitLight))
			e.release(e.other, heavy, got)
			e.await(e.other, light, waitLight)
		},
		needs: all(weighted, fifo),
	},
	{
		name: "several at once",
		why:  "one release may make more than one claim grantable, and each is told",
		run: func(e *env) {
			heavy, held := e.hold(e.units(3, 3))
			var cs []driver.Claim
			var sts []driver.Status
			for i := range 4 {
				cs = append(cs, e.units(1, 3))
				sts = append(sts, e.enqueue(e.client(i), cs[i]))
			}
			e.release(e.d, heavy, held)
			for i := range 3 {
				sts[i] = e.await(e.client(i), cs[i], sts[i])
			}
			e.enqueue(e.client(3), renewal(cs[3], sts[3]))
			e.release(e.client(1), cs[1], sts[1])
			e.await(e.client(3), cs[3], sts[3])
		},
		needs: all(weighted, fifo),
	},
	{
		name: "mixed limits",
		why:  "the smallest limit among a claim and those ahead counts",
		run: func(e *env) {
			two, five := e.units(1, 2), e.units(1, 5)
			held := e.acquire(e.d, two)
			e.acquire(e.other, five)
			late := e.units(1, 5) // the limit of 2 ahead of it counts
			waiting := e.enqueue(e.other, late)
			e.handOver(two, held, late, waiting)
			e.enqueue(e.d, e.units(1, 2)) // and so does its own
			e.enqueue(e.d, e.units(1, 5))
		},
		needs: all(weighted, fifo),
	},
	{
		name: "largest weights",
		why:  "sums of large weights must not overflow: two of All and one of 1 never share",
		run: func(e *env) {
			e.acquire(e.d, e.writer())
			for range 3 {
				e.enqueue(e.other, e.writer())
			}
			e.enqueue(e.other, e.reader())
			e.enqueue(e.other, e.units(driver.All-1, driver.All))
		},
		needs: weighted,
	},
}

// client returns one of the row's two clients.
func (e *env) client(i int) *Facade {
	if i%2 == 0 {
		return e.d
	}
	return e.other
}
