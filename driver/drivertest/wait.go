package drivertest

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

var waitRows = []row{
	{
		name: "hand-off",
		why:  "a release grants the next live claim and tells its client",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			granted := make(chan error, 1)
			go func() {
				_, err := e.awaitErr(e.other, next, waiting)
				granted <- err
			}()
			e.release(e.d, holder, held)
			if err := <-granted; err != nil {
				e.Errorf("waiting for the grant: %v", err)
			}
		},
	},
	{
		name: "no gap",
		why:  "what happens between a request and Wait is kept until Wait collects it",
		run: func(e *env) {
			for range 10 {
				holder, held, next, waiting := e.contest()
				got := e.handOver(holder, held, next, waiting)
				e.release(e.other, next, got)
			}
		},
	},
	{
		name: "interrupted waits",
		why:  "a Wait that ended with its context takes no news with it",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			for range 5 {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				e.other.Wait(ctx, renewal(next, waiting)) // only that it is called
			}
			e.handOver(holder, held, next, waiting)
		},
	},
	{
		name: "the wait of a waiter ends with its context",
		why:  "who gives up must not hang",
		run: func(e *env) {
			e.acquire(e.d, e.claim())
			waiter := e.claim()
			e.waitEnds(waiter, e.enqueue(e.other, waiter))
		},
	},
	{
		name: "the wait of a holder ends with its context",
		why:  "who gives up must not hang",
		run: func(e *env) {
			holder := e.claim()
			e.waitEnds(holder, e.acquire(e.other, holder))
		},
	},
	{
		name: "a waiter gets the right news",
		why:  "news about one claim must not reach another one of the same client",
		run: func(e *env) {
			a, b := e.with(e.name+"/a"), e.with(e.name+"/b")
			holdA, holdB, waitA, waitB := a.claim(), b.claim(), a.claim(), b.claim()
			heldA, heldB := a.acquire(e.d, holdA), b.acquire(e.d, holdB)
			stA, stB := a.enqueue(e.other, waitA), b.enqueue(e.other, waitB)
			a.release(e.d, holdA, heldA)
			a.await(e.other, waitA, stA)
			b.enqueue(e.other, renewal(waitB, stB))
			b.release(e.d, holdB, heldB)
			b.await(e.other, waitB, stB)
		},
	},
	{
		name: "a pushed status is the state",
		why:  "a Status from Wait that is not zero is the claim's new state, as a request would have answered",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			got := e.handOver(holder, held, next, waiting)
			asked := e.acquire(e.other, renewal(next, got))
			if got.Token != asked.Token || got.Contended != asked.Contended || got.Revoked != asked.Revoked {
				e.Errorf("pushed %+v, asked %+v", got, asked)
			}
		},
	},
	{
		name: "a broken holder is told",
		why:  "the Wait of a granted claim returns when the claim is broken, so that its work ends at once",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			told := e.waitInBackground(holder, held)
			e.breaks(holder)
			if err := <-told; !errors.Is(err, driver.ErrGone) {
				e.Errorf("the holder learned %v, want ErrGone", err)
			}
		},
		needs: does(driver.OpBreak),
	},
	{
		name: "a revoked holder is told",
		why:  "the Wait of a granted claim returns when the claim is revoked, so that it can let go early",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			told := e.waitInBackground(holder, held)
			e.revokes(holder)
			if err := <-told; err != nil {
				e.Errorf("the holder was to learn that it is revoked: %v", err)
			}
		},
		needs: does(driver.OpRevoke),
	},
}

// waitEnds fails unless Wait ends with its context, and returns the error of that. Returning early is allowed.
func (e *env) waitEnds(c driver.Claim, st driver.Status) {
	e.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := e.other.Wait(ctx, renewal(c, st)); err != nil {
				ended <- err
				return
			}
		}
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		e.Errorf("Wait returned %v, want the error of its context", err)
	}
}

// waitInBackground waits on a granted claim until there is news. It sends nil when the claim is revoked, and otherwise
// how it ended.
func (e *env) waitInBackground(c driver.Claim, st driver.Status) <-chan error {
	told := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), c.TTL/2) // before the claim ends by itself
	e.Cleanup(cancel)
	go func() {
		for {
			got, err := e.waitOnce(ctx, e.d, renewal(c, st), 0)
			if ctx.Err() == nil && !errors.Is(err, driver.ErrGone) && (err != nil || got == driver.Status{}) {
				got, err = e.ask(e.d, renewal(c, st))
			}
			if err != nil || got.Revoked {
				told <- err
				return
			}
		}
	}()
	return told
}
