package servertables

import (
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A client that wrote sweeps now and then, and when it is closed. All clients of a database go on where the
// last one stopped, one step at a time, so that the tables are read slowly, however large they are and however
// many clients there are.
const (
	sweepPause = 20 * time.Second // between two looks at whether there is something to sweep
	stepPause  = time.Second      // between two steps, of whichever clients
	stepRows   = 500              // how many locks, and how many claims, a step looks at
	sweepMost  = 256              // how many rows a statement removes
	forgetFor  = stepPause / 4    // for how long ends are forgotten after a step: thousands may be noted in a second
	lastSweep  = time.Second      // how long the step at the end may take
)

// A sweeper removes what nobody will ask for: claims that died in queues that nobody uses, ends that were remembered
// for long enough, and tokens that the clock has overtaken long ago.
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
			d.stepAndForget(ctx, func(ctx context.Context, f sweeping) (bool, error) {
				use := func(ctx context.Context, l *lane) (bool, error) { return f(ctx, l.conn) }
				return run(ctx, d.requests, affinity{}, use)
			})
		}
	}
	s.ended.Go(func() {
		for driver.Sleep(ctx, sweepPause/2+rand.N(sweepPause)) == nil {
			if s.wrote.Swap(false) {
				d.sweep(ctx)
			}
		}
	})
}

func (s *sweeper) stop() {
	if s.cancel != nil {
		s.cancel()
	}
}

// sweep takes steps until there is nothing left, another client takes them, or one fails: the next sweep goes on.
func (d *Driver) sweep(ctx context.Context) {
	for {
		more, err := d.stepAndForget(ctx, func(ctx context.Context, f sweeping) (bool, error) {
			return runBulk(ctx, d, f)
		})
		if err != nil || !more || driver.Sleep(ctx, stepPause+rand.N(stepPause)) != nil {
			return
		}
	}
}

// sweeping is a part of it, and reports whether it left something.
type sweeping func(context.Context, *conn) (more bool, err error)

// stepAndForget takes a step, and forgets the ends that have piled up, each statement in a turn of its own.
func (d *Driver) stepAndForget(
	ctx context.Context, on func(context.Context, sweeping) (bool, error),
) (more bool, err error) {
	more, err = on(ctx, d.step)
	for began, full := time.Now(), more; full && err == nil && time.Since(began) < forgetFor; {
		full, err = on(ctx, d.forget)
	}
	return more, err
}

// forget forgets some ends.
func (d *Driver) forget(ctx context.Context, conn *conn) (more bool, err error) {
	n, err := conn.number(ctx, forgetEnds, int64(sweepMost))
	return n == sweepMost, err
}

// step sweeps what a few rows tell, where it is time for that, and reports whether it left something.
func (d *Driver) step(ctx context.Context, conn *conn) (more bool, err error) {
	from, ok, err := conn.takeTurn(ctx)
	if err != nil || !ok {
		return false, err
	}
	s, err := conn.survey(ctx, from, d.keep)
	if err != nil {
		return false, err
	}
	_, err = d.tidy(ctx, conn, s.stale)
	if err != nil {
		return false, err
	}
	piled, err := d.forget(ctx, conn)
	if err != nil {
		return false, err
	}
	_, err = conn.retire(ctx, s.unused, d.keep)
	// What could not be retired is for a later round: the turn is noted all the same.
	err = errors.Join(err, conn.run(ctx, noteTurn, s.next.locks, s.next.claims))
	return err == nil && (!s.ends() || piled), err
}

// A place is how far sweeping has come: the names of a lock and of a claim's lock after which to go on.
type place struct{ locks, claims []byte }

// A survey is what a step found.
type survey struct {
	next          place
	stale, unused []string // names of locks: with claims that have expired, and not used for long
}

// ends reports whether it has seen the last rows.
func (s survey) ends() bool { return len(s.next.locks) == 0 && len(s.next.claims) == 0 }

// takeTurn returns where to go on, if it is time to.
func (c *conn) takeTurn(ctx context.Context) (from place, ok bool, err error) {
	err = c.rows(ctx, takeTurn, []any{micros(stepPause)}, func(scan func(...any) error) error {
		ok = true
		return scan(&from.locks, &from.claims)
	})
	return from, ok, err
}

func (c *conn) survey(ctx context.Context, from place, keep time.Duration) (s survey, err error) {
	args := []any{append([]byte{}, from.locks...), append([]byte{}, from.claims...), micros(keep), int64(stepRows)}
	err = c.rows(ctx, surveyRows, args, func(scan func(...any) error) error {
		var kind int
		var name []byte
		if err := scan(&kind, &name); err != nil {
			return err
		}
		switch kind {
		case 0:
			s.next.locks = name
		case 1:
			s.next.claims = name
		case 2:
			s.stale = append(s.stale, string(name))
		default:
			s.unused = append(s.unused, string(name))
		}
		return nil
	})
	return s, err
}

// tidy takes claims that are over out of queues, and returns the name of the lock of each that had expired.
func (d *Driver) tidy(ctx context.Context, conn *conn, stale []string) (expired []string, err error) {
	for _, name := range stale {
		d.sweeper.wrote.Store(true) // how they ended is to be forgotten later
		for n := int64(sweepMost); n == sweepMost; {
			if n, err = conn.number(ctx, tidyQueue, []byte(name), int64(sweepMost)); err != nil {
				return expired, err
			}
			expired = append(expired, slices.Repeat([]string{name}, int(n))...)
		}
	}
	return expired, nil
}

// retire removes the tokens of locks that were not used for so long, and returns their names.
func (c *conn) retire(ctx context.Context, unused []string, keep time.Duration) (retired []string, err error) {
	if len(unused) == 0 {
		return nil, nil
	}
	lines := make([]string, len(unused))
	for i, name := range unused {
		lines[i] = hex.EncodeToString([]byte(name))
	}
	return c.names(ctx, retireLocks, strings.Join(lines, "\n"), micros(keep))
}
