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
					d := &cutOff{Driver: memlock.New(), hangs: row.hangs}
					client := holdfast.New(d)
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

// cutOff is a driver that can lose its backend: then requests fail at once, or hang.
type cutOff struct {
	driver.Driver
	hangs bool
	is    atomic.Bool
}

func (d *cutOff) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if !d.is.Load() {
		return d.Driver.Request(ctx, c)
	}
	if d.hangs {
		<-ctx.Done()
		return driver.Status{}, ctx.Err()
	}
	return driver.Status{}, errors.New("connection refused")
}
