package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var renewRows = []row{
	{
		name: "batch",
		why:  "each claim of a batch has its own answer, in the order of the claims",
		run: func(e *env) {
			held, waiting, released, gone := e.claim(), e.claim(), e.with(e.name+"/released").claim(), e.claim()
			stHeld := e.acquire(e.d, held)
			stWaiting := e.enqueue(e.d, waiting)
			stReleased := e.acquire(e.d, released)
			e.release(e.d, released, stReleased)
			got := e.renew(
				renewal(gone, driver.Status{Token: 99}), renewal(waiting, stWaiting),
				renewal(released, stReleased), renewal(held, stHeld),
			)
			e.isGone(got[0].Err, "renewing a claim that never was")
			e.isGone(got[2].Err, "renewing a claim that was released")
			e.sameAnswer("waiting", got[1], stWaiting)
			e.sameAnswer("held", got[3], stHeld)
			e.queued(held, waiting)
		},
		needs: fifo,
	},
	{
		name: "large batch",
		why:  "one client may hold many locks",
		run: func(e *env) {
			const n, step = 300, 50 // where requests are slow, the first claims live by the renewals before the last
			var batch []driver.Claim
			for i := range n {
				c := e.with(fmt.Sprintf("%s/%d", e.name, i)).claim()
				batch = append(batch, renewal(c, e.acquire(e.d, c)))
				if len(batch)%step > 0 {
					continue
				}
				for j, got := range e.renew(batch...) {
					e.sameAnswer(batch[j].Name, got, driver.Status{Granted: true, Token: batch[j].Token})
				}
			}
		},
		exact: true,
	},
	{
		name: "a turn of which nobody tells",
		why:  "the client of the claim just ahead may hang, and who shares with it is not held up by that",
		run: func(e *env) {
			first, second, third := e.units(1, 3), e.units(1, 3), e.units(1, 3)
			heldFirst, heldSecond := e.acquire(e.d, first), e.acquire(e.d, second)
			e.acquire(e.d, third)
			hangs, waits := e.units(1, 3), e.units(1, 3)
			e.enqueue(e.other, hangs)
			waiting := e.enqueue(e.d, waits)
			e.sameAnswer("while it waits", e.renew(renewal(waits, waiting))[0], waiting)
			e.release(e.d, first, heldFirst)
			e.release(e.d, second, heldSecond)
			waiting.Granted = true
			e.sameAnswer("when two have left", e.renew(renewal(waits, waiting))[0], waiting)
		},
		needs: all(weighted, fifo),
	},
	{
		name: "empty batch",
		why:  "nothing to renew is no error",
		run: func(e *env) {
			if got := e.renew(); len(got) != 0 {
				e.Errorf("got %d answers", len(got))
			}
		},
	},
	{
		name: "a batch extends",
		why:  "a renewal in a batch is a request like any other",
		run: func(e *env) {
			holder, waiter := e.short(e.claim()), e.short(e.claim())
			held := e.acquire(e.d, holder)
			waiting := e.enqueue(e.d, waiter)
			sent := e.lapses.Add(-holder.TTL)
			for range 8 {
				e.pass(held.TTL / 4)
				lapses := sent.Add(held.TTL * 3 / 4)
				sent = time.Now()
				got := e.renew(renewal(holder, held), renewal(waiter, waiting))
				if got[0].Err != nil || got[1].Err != nil {
					e.Excuse(lapses)
				}
				e.sameAnswer("held", got[0], held)
				e.sameAnswer("waiting", got[1], waiting)
			}
			e.queued(holder, waiter)
		},
		needs: fifo,
		exact: true,
	},
}

// renew renews a batch, again while an answer is missing if the connection is bad.
func (e *env) renew(batch ...driver.Claim) []driver.Result {
	e.Helper()
	return e.renewWith(e.d, batch...)
}

// renewWith is renew by one of the clients.
func (e *env) renewWith(d *Facade, batch ...driver.Claim) []driver.Result {
	e.Helper()
	results, _, err := persist(e, func(ctx context.Context) ([]driver.Result, error) {
		results, err := d.Renew(ctx, batch)
		for _, r := range results {
			if err == nil && !answered(r.Err) {
				err = r.Err
			}
		}
		return results, err
	})
	if err != nil {
		e.Fatalf("Renew: %v", err)
	}
	if len(results) != len(batch) {
		e.Fatalf("%d answers to %d claims", len(results), len(batch))
	}
	return results
}

func (e *env) sameAnswer(what string, got driver.Result, want driver.Status) {
	e.Helper()
	if got.Err != nil || got.Status.Granted != want.Granted || got.Status.Token != want.Token {
		e.Errorf("%s: renewed with %+v, error %v; want token %d, granted %v",
			what, got.Status, got.Err, want.Token, want.Granted)
	}
}
