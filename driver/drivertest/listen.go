package drivertest

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

var listenRows = []row{
	{
		name: "a listener hears of the revocation",
		why:  "a holder who listens lets go early, at no goroutine for each claim",
		run: func(e *env) {
			e.hears(e.revokes, func(st driver.Status, err error) bool { return err == nil && st.Revoked })
		},
		needs: does(driver.OpRevoke),
		exact: true,
	},
	{
		name: "a listener hears of the end",
		why:  "the work of a holder whose claim is broken ends at once",
		run: func(e *env) {
			e.hears(e.breaks, func(_ driver.Status, err error) bool { return errors.Is(err, driver.ErrGone) })
		},
		needs: does(driver.OpBreak),
		exact: true,
	},
	{
		name: "a listener hears what it has missed",
		why:  "what happened between the last answer about a claim and Listen is told, too",
		run: func(e *env) {
			holder, held := e.hold(e.claim())
			e.revokes(holder)
			moved := e.listen(e.d, renewal(holder, held))
			e.hearsFrom(moved, renewal(holder, held), func(st driver.Status, err error) bool {
				return err == nil && st.Revoked
			})
		},
		needs: does(driver.OpRevoke),
		exact: true,
	},
	{
		name: "a listener hears that it comes too late",
		why:  "a claim that ended before Listen moves no more: who listens for it would wait for ever",
		run: func(e *env) {
			for _, by := range []*Facade{e.d, e.other} { // one that knows the claim, and one that does not
				gone, held := e.hold(e.claim())
				e.release(e.d, gone, held)
				moved, err := e.listenErr(by, renewal(gone, held))
				if err != nil {
					e.isGone(err, "listening for a claim that ended")
					continue
				}
				e.hearsFrom(moved, renewal(gone, held), func(_ driver.Status, err error) bool {
					return errors.Is(err, driver.ErrGone)
				})
			}
		},
		needs: does(driver.OpBreak), // others may have nobody who tells
		exact: true,
	},
	{
		name: "a listener hears of what it has taken up",
		why:  "who goes on with a claim of another client lets go as early as who made it",
		run: func(e *env) {
			_, c, st := e.detach()
			c = renewal(c, st)
			e.acquire(e.d, c)
			moved := e.listen(e.d, c)
			e.acquire(e.d, c) // as who is told to ask, where nobody could tell before
			select {
			case <-moved:
			default:
			}
			e.revokes(c)
			e.hearsFrom(moved, c, func(st driver.Status, err error) bool { return err == nil && st.Revoked })
			e.breaks(c)
			e.hearsFrom(moved, c, func(_ driver.Status, err error) bool { return errors.Is(err, driver.ErrGone) })
		},
		needs: all(does(driver.OpRevoke), does(driver.OpBreak), detaches),
		exact: true,
	},
}

// hears has something done to a granted claim that a client listens for, and asks about the claim whenever that is told
// to, until it knows.
func (e *env) hears(do func(driver.Claim), knows func(driver.Status, error) bool) {
	e.Helper()
	holder := e.claim()
	c := renewal(holder, e.acquire(e.d, holder))
	moved := e.listen(e.d, c)
	do(holder)
	e.hearsFrom(moved, c, knows)
}

func (e *env) hearsFrom(moved <-chan struct{}, c driver.Claim, knows func(driver.Status, error) bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), e.patience())
	defer cancel()
	for {
		select {
		case <-moved:
			if st, err := e.ask(e.d, c); knows(st, err) {
				return
			}
		case <-ctx.Done():
			e.Fatal("the listener heard nothing")
		}
	}
}

// listen returns where word arrives that a claim may have moved.
func (e *env) listen(d *Facade, c driver.Claim) <-chan struct{} {
	e.Helper()
	moved, err := e.listenErr(d, c)
	if err != nil {
		e.Fatalf("Listen: %v", err)
	}
	return moved
}

func (e *env) listenErr(d *Facade, c driver.Claim) (moved <-chan struct{}, err error) {
	e.Helper()
	told := make(chan struct{}, 1)
	stop, _, err := persist(e, func(ctx context.Context) (func(), error) {
		return d.Listen(ctx, c, func() {
			select {
			case told <- struct{}{}:
			default: // it is told already
			}
		})
	})
	if err == nil {
		e.Cleanup(stop)
	}
	return told, err
}
