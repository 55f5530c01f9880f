package claims

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A client that wrote sweeps now and then, and when it is closed, each time within bounds.
const (
	sweepPause = 20 * time.Second
	sweepMost  = 256
	lastSweep  = time.Second // how long the one at the end may take
)

// A sweeper removes what nobody will ask for: claims that died in queues that nobody uses, ends that were remembered for
// long enough, and tokens that the clock has overtaken long ago.
type sweeper struct {
	wrote  atomic.Bool // since the last sweep
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// start sweeps in the background until stop.
func (s *sweeper) start(d *Driver) {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = func() {
		cancel()
		s.ended.Wait()
		if s.wrote.Load() {
			ctx, cancel := context.WithTimeout(context.Background(), lastSweep)
			defer cancel()
			d.sweepOnce(ctx)
		}
	}
	s.ended.Go(func() {
		for {
			select {
			case <-time.After(sweepPause/2 + rand.N(sweepPause)):
			case <-ctx.Done():
				return
			}
			if s.wrote.Swap(false) {
				d.sweepAll(ctx)
			}
		}
	})
}

func (s *sweeper) stop() {
	if s.cancel != nil {
		s.cancel()
	}
}

// sweepAll sweeps until there is nothing left, or something fails: then the next sweep goes on.
func (d *Driver) sweepAll(ctx context.Context) {
	for {
		if more, err := d.sweepOnce(ctx); err != nil || !more {
			return
		}
	}
}

// sweepOnce reports whether it left something.
func (d *Driver) sweepOnce(ctx context.Context) (more bool, err error) {
	_, more, err = d.tidy(ctx)
	if err != nil {
		return false, err
	}
	forgotten, err := d.forget(ctx)
	if err != nil {
		return false, err
	}
	retired, err := d.retire(ctx, d.keep)
	return more || forgotten == sweepMost || len(retired) == sweepMost, err
}

// tidy takes claims that are over out of queues, and returns the name of the lock of each that had expired. more says that
// it may have left some.
func (d *Driver) tidy(ctx context.Context) (expired []string, more bool, err error) {
	stale, err := d.names(ctx, findStale, int64(sweepMost))
	for i, name := range stale {
		if err != nil || slices.Contains(stale[:i], name) {
			continue
		}
		d.sweeper.wrote.Store(true) // how they ended is to be forgotten later
		var n int64
		n, err = run(ctx, d.session, func(ctx context.Context, conn *conn) (int64, error) {
			return conn.number(ctx, tidyQueue, []byte(name))
		})
		expired = append(expired, slices.Repeat([]string{name}, int(n))...)
	}
	return expired, len(stale) == sweepMost, err
}

// forget removes what was remembered of claims for long enough, and returns of how many.
func (d *Driver) forget(ctx context.Context) (int64, error) {
	return run(ctx, d.session, func(ctx context.Context, conn *conn) (int64, error) {
		return conn.number(ctx, forgetEnds, int64(sweepMost))
	})
}

// retire removes the tokens of locks that were not used for so long, and returns their names.
func (d *Driver) retire(ctx context.Context, unused time.Duration) ([]string, error) {
	return d.names(ctx, retireLocks, micros(unused), int64(sweepMost))
}

// Reap implements [driver.Reaper]: it does at once what sweeping does in passing.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	for more := true; more && err == nil; {
		var expired, tokens []string
		var ends int64
		if expired, more, err = d.tidy(ctx); err == nil {
			ends, err = d.forget(ctx)
		}
		if err == nil {
			tokens, err = d.retire(ctx, age)
		}
		removed = append(append(removed, leftovers("expired claim", expired)...), leftovers("last token", tokens)...)
		more = more || ends == sweepMost || len(tokens) == sweepMost
	}
	return removed, err
}

func leftovers(kind string, names []string) (all []driver.Leftover) {
	for _, name := range names {
		all = append(all, driver.Leftover{Kind: kind, Name: name})
	}
	return all
}
