package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// The numbers that docs/command.md gives: with the defaults, run outlasts every outage that is as short as the first
// two, whenever it begins, and sends TERM in every one that is as long as the last.
func TestHowLongAnOutageMayLast(t *testing.T) {
	const (
		failing = 4800 * time.Millisecond
		hanging = 2300 * time.Millisecond
		longest = 11050 * time.Millisecond
	)
	for name, row := range map[string]struct {
		hangs    bool
		lasts    time.Duration
		outlasts bool
	}{
		"requests fail":             {false, failing, true},
		"requests hang":             {true, hanging, true},
		"requests fail for so long": {false, longest, false},
		"requests hang for so long": {true, longest, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for begin := time.Duration(0); begin < holdfast.DefaultTTL/3; begin += 249 * time.Millisecond {
					d := &cutOff{hangs: row.hangs}
					client := holdfast.New(batch.Intercept(memlock.New(), d.pass))
					lease, err := client.Mutex("m").Lock(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					j := &job{lease: lease, plan: &plan{runFlags: runFlags{
						ttl: holdfast.DefaultTTL, grace: defaultGrace, onLost: lostTerm}}}
					time.Sleep(begin)
					d.is.Store(true)
					over := time.AfterFunc(row.lasts, func() { d.is.Store(false) })
					lost := false
					for range 2 * holdfast.DefaultTTL / (10 * time.Millisecond) {
						lost = lost || j.danger() != nil
						time.Sleep(10 * time.Millisecond)
					}
					over.Stop()
					if lost == row.outlasts {
						t.Errorf("an outage of %v, %v after the grant: lost is %v", row.lasts, begin, lost)
					}
					_ = client.Close(context.Background())
				}
			})
		})
	}
}

// cutOff is the way to a backend, and can be interrupted: then requests fail at once, or hang.
type cutOff struct {
	hangs bool
	is    atomic.Bool
}

func (d *cutOff) pass(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	switch {
	case op.Kind != driver.OpRequest || !d.is.Load():
		return next(op)
	case d.hangs:
		<-ctx.Done()
		return driver.Result{Err: ctx.Err()}
	default:
		return driver.Result{Err: errors.New("connection refused")}
	}
}
