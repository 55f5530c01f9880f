package drivertest

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

var breakRows = []row{
	{
		name: "break a holder",
		why:  "the claim ends, the next is granted, and the holder learns ErrGone from whatever it asks next",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			e.breaks(holder)
			got := e.await(e.other, next, waiting)
			e.queued(next)
			_, err := e.ask(e.d, renewal(holder, held))
			e.isGone(err, "renewing a claim that was broken")
			_, err = e.ask(e.d, holder)
			e.isGone(err, "requesting an ID that was broken")
			for range 2 {
				e.isGone(e.dropErr(e.d, holder, held), "releasing a claim that was broken")
				e.isGone(e.dropErr(e.d, holder, driver.Status{}), "releasing by ID alone a claim that was broken")
			}
			e.acquire(e.other, renewal(next, got))
		},
		needs: does(driver.OpBreak),
	},
	{
		name: "break a waiter",
		why:  "a waiting claim can be broken too, and what waits behind it may become grantable",
		run: func(e *env) {
			reader, writer, last := e.reader(), e.writer(), e.reader()
			_, waitW, waitR := e.inLine(reader, writer, last)
			e.breaks(writer)
			e.await(e.d, last, waitR)
			e.queued(reader, last)
			_, err := e.ask(e.other, renewal(writer, waitW))
			e.isGone(err, "renewing a waiting claim that was broken")
			_, err = e.ask(e.other, writer)
			e.isGone(err, "requesting the ID of a waiting claim that was broken: its client would come back")
		},
		needs: all(does(driver.OpBreak), weighted, fifo),
	},
	{
		name: "break nothing",
		why:  "ErrGone tells that there is no such claim",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			e.isGone(e.breakErr(e.claim()), "breaking a claim that never was")
			e.release(e.d, holder, held)
			e.isGone(e.breakErr(holder), "breaking a claim that was released")
			e.release(e.d, holder, held)
			next := e.claim()
			e.acquire(e.d, next)
			e.breaks(next)
			e.isGone(e.breakErr(next), "breaking a claim that was broken")
			e.queued()
		},
		needs: does(driver.OpBreak),
	},
}

// tryBreak breaks c. unsure tells whether an attempt before the one that was answered may have broken it.
func (e *env) tryBreak(c driver.Claim) (unsure bool, err error) {
	e.Helper()
	return e.insist(func(ctx context.Context) error { return e.other.Break(ctx, c.Name, c.ID) })
}

// breakErr breaks c and returns the answer.
func (e *env) breakErr(c driver.Claim) error {
	e.Helper()
	_, err := e.tryBreak(c)
	return err
}

// breaks breaks c, which must be there.
func (e *env) breaks(c driver.Claim) {
	e.Helper()
	unsure, err := e.tryBreak(c)
	if unsure && errors.Is(err, driver.ErrGone) {
		return // an attempt without an answer had broken it
	}
	if err != nil {
		e.Fatalf("Break(%s): %v", c.ID, err)
	}
}
