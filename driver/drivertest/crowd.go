package drivertest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var crowdRows = []row{
	{
		name: "crowd on a mutex",
		why:  "whatever the interleaving, one holds the lock at a time, and each later holder has a greater token",
		run: func(e *env) {
			e.crowd(1, func(*rand.Rand) driver.Claim { return e.claim() })
		},
	},
	{
		name: "crowd of readers and writers",
		why:  "whatever the interleaving, a writer is alone",
		run: func(e *env) {
			e.crowd(driver.All, func(r *rand.Rand) driver.Claim {
				if r.IntN(3) == 0 {
					return e.writer()
				}
				return e.reader()
			})
		},
		needs: weighted,
	},
	{
		name: "crowd on a semaphore",
		why:  "whatever the interleaving, no more units are held than there are",
		run: func(e *env) {
			const permits = 5
			e.crowd(permits, func(r *rand.Rand) driver.Claim { return e.units(1+r.Int64N(permits), permits) })
		},
		needs: weighted,
	},
}

// crowd lets many goroutines on several clients take and give back claims on one lock, some of which give up or do not
// wait, and checks what they hold together.
func (e *env) crowd(limit int64, claim func(*rand.Rand) driver.Claim) {
	goroutines, cycles := 16, 8
	if e.s.lossy {
		goroutines, cycles = 6, 3
	}
	if e.renewEvery == 0 {
		e.renewEvery = 500 * time.Millisecond // other rows show whether pushes come; a crowd may take its time
	}
	clients := []*Facade{e.d, e.other, e.open(), e.open()}
	guard := &guard{limit: limit}
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			r := random(e, i)
			for range cycles {
				if e.Failed() {
					return
				}
				e.visit(clients[i%len(clients)], claim(r), guard, r)
			}
		})
	}
	wg.Wait()
	if guard.broken.Load() {
		e.Errorf("more than %d units were held at once", limit)
	}
	if e.traits.Fenced && limit == 1 && guard.unordered.Load() {
		e.Error("a holder had a lesser token than one before it")
	}
	e.queued()
}

// visit takes the claim, holds it for a moment, and gives it back, unless it gives up before.
func (e *env) visit(d *Facade, c driver.Claim, g *guard, r *rand.Rand) {
	c.Queue = r.IntN(4) > 0 || e.s.lossy
	st, err := e.ask(d, c)
	switch {
	case err != nil:
		e.Errorf("Request: %v", err)
		return
	case !st.Granted && !c.Queue:
		return
	case !st.Granted && r.IntN(4) == 0:
		e.leave(d, c, st)
		return
	}
	if st, err = e.awaitErr(d, c, st); err != nil {
		e.Errorf("waiting: %v", err)
		return
	}
	g.enter(c.Weight, st.Token)
	e.pass(time.Duration(r.IntN(1000)) * time.Microsecond)
	g.leave(c.Weight)
	e.leave(d, c, st)
}

func (e *env) leave(d *Facade, c driver.Claim, st driver.Status) {
	if err := e.dropErr(d, c, st); err != nil && !errors.Is(err, driver.ErrUnknown) {
		e.Errorf("Release: %v", err)
	}
}

// A guard sees whether more is held than the lock has.
type guard struct {
	limit             int64
	held              atomic.Int64
	last              atomic.Uint64
	broken, unordered atomic.Bool
}

func (g *guard) enter(weight int64, token uint64) {
	if g.held.Add(weight) > g.limit {
		g.broken.Store(true)
	}
	if g.last.Swap(token) >= token {
		g.unordered.Store(true)
	}
}

func (g *guard) leave(weight int64) { g.held.Add(-weight) }
