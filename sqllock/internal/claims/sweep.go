package claims

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
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
	stale, err := d.names(ctx, findStale, int64(sweepMost))
	if err != nil {
		return false, err
	}
	tidied := make(map[string]bool)
	for _, name := range stale {
		if tidied[name] {
			continue
		}
		tidied[name] = true
		if _, err := d.sweepBy(ctx, tidyQueue, []byte(name)); err != nil {
			return false, err
		}
	}
	forgotten, err := d.sweepBy(ctx, forgetEnds, int64(sweepMost))
	if err != nil {
		return false, err
	}
	retired, err := d.sweepBy(ctx, retireLocks, micros(d.keep), int64(sweepMost))
	if len(stale) > 0 {
		d.sweeper.wrote.Store(true) // their ends are to be forgotten later
	}
	return len(stale) == sweepMost || forgotten == sweepMost || retired == sweepMost, err
}

func (d *Driver) sweepBy(ctx context.Context, r routine, args ...any) (int64, error) {
	return run(ctx, d.session, func(ctx context.Context, conn *conn) (int64, error) {
		return conn.number(ctx, r, args...)
	})
}
