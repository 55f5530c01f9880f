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
// last one stopped, one in each turn, so that the tables are read slowly, however large they are and however
// many clients there are.
//
// A turn is a step, and more steps while there are more ends to forget than one forgets. Whoever makes a name leaves an
// end, so four times as many names are looked at as are made: a round through N of them is over before N/3 more are
// made, in whatever order their names are, and fewer are kept too long than are needed.
const (
	sweepPause = 20 * time.Second       // between two looks at whether there is something to sweep
	turnPause  = time.Second            // between the beginnings of two turns, of whichever clients
	turnFor    = turnPause / 2          // for how long a turn goes on where thousands end in a second
	stepRows   = 500                    // how many locks, and how many claims, a step looks at
	stepEnds   = stepRows / 4           // how many ends it forgets
	sweepMost  = 256                    // how many rows a statement removes otherwise
	lastSweep  = 400 * time.Millisecond // how long closing a client waits for its last turn
)

// A sweeper removes what nobody will ask for: claims that died in queues that nobody uses, ends that were remembered
// for long enough, and tokens that the clock has overtaken long ago.
type sweeper struct {
	wrote atomic.Bool // since the last sweep
	end   context.CancelFunc
	ended sync.WaitGroup
}

// startSweeping sweeps in the background until stopSweeping.
func (d *Driver) startSweeping() {
	ctx, cancel := context.WithCancel(context.Background())
	d.sweeper.end = cancel
	d.sweeper.ended.Go(func() {
		for driver.Sleep(ctx, sweepPause/2+rand.N(sweepPause)) == nil {
			if d.sweeper.wrote.Swap(false) {
				d.sweep(ctx)
			}
		}
	})
}

func (d *Driver) stopSweeping() {
	d.sweeper.end()
	d.sweeper.ended.Wait()
	if d.sweeper.wrote.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), lastSweep)
		defer cancel()
		d.sweepTurn(ctx, d.requests) // which have a connection
	}
}

// sweep takes turns until there is nothing left, another client takes them, or one fails: the next sweep goes on.
func (d *Driver) sweep(ctx context.Context) {
	for {
		more, err := d.sweepTurn(ctx, d.bulk)
		if err != nil || !more || driver.Sleep(ctx, turnPause+rand.N(turnPause)) != nil {
			return
		}
	}
}

// A swept is what a part of a turn has done and left.
type swept struct {
	removed []driver.Leftover
	next    place
	over    bool // it has seen the last rows, or it is not time to sweep
	piled   bool // there are more ends to forget
}

// sweepTurn sweeps, where it is time for that, each part in a turn of its own among other work on the connection, and
// reports whether it left something.
func (d *Driver) sweepTurn(ctx context.Context, p *pool) (more bool, err error) {
	s, err := runFrom(ctx, p, swept{}, d.firstStep)
	for began := time.Now(); s.piled && err == nil && time.Since(began) < turnFor; {
		s, err = runFrom(ctx, p, s, d.goOn)
	}
	return err == nil && (s.piled || !s.over), err
}

// firstStep is the first of a turn, where this client has it.
func (d *Driver) firstStep(ctx context.Context, conn *conn, _ swept) (swept, error) {
	from, ok, err := conn.takeTurn(ctx)
	if err != nil || !ok {
		return swept{over: true}, err
	}
	return d.step(ctx, conn, from, d.keep)
}

// goOn goes on after a step that left ends. Where that has seen the last rows it only forgets.
func (d *Driver) goOn(ctx context.Context, conn *conn, last swept) (s swept, err error) {
	if !last.over {
		return d.step(ctx, conn, last.next, d.keep)
	}
	last.piled, err = conn.forget(ctx, sweepMost)
	return last, err
}

// step sweeps what a few rows tell. It removes the tokens of locks that were not used for so long.
func (d *Driver) step(ctx context.Context, conn *conn, from place, keep time.Duration) (s swept, err error) {
	found, err := conn.survey(ctx, from, keep)
	if err != nil {
		return s, err
	}
	expired, err := d.tidy(ctx, conn, found.stale)
	s.removed = leftovers("expired claim", expired)
	if err != nil {
		return s, err
	}
	if s.piled, err = conn.forget(ctx, stepEnds); err != nil {
		return s, err
	}
	retired, err := conn.retire(ctx, found.unused, keep)
	s.removed = append(s.removed, leftovers("last token", retired)...)
	s.next, s.over = found.next, len(found.next.locks)+len(found.next.claims) == 0
	// What could not be retired is for a later round: how far it has come is noted all the same.
	return s, errors.Join(err, conn.run(ctx, "mark", s.next.locks, s.next.claims))
}

// forget forgets so many ends at most, and reports whether it may have left some.
func (c *conn) forget(ctx context.Context, most int64) (more bool, err error) {
	n, err := c.number(ctx, "forget", most)
	return n == most, err
}

// A place is how far sweeping has come: the names of a lock and of a claim's lock after which to go on.
type place struct{ locks, claims []byte }

// A survey is what a step found.
type survey struct {
	next          place
	stale, unused []string // names of locks: with claims that have expired, and not used for long
}

// takeTurn returns where to go on, if it is time to.
func (c *conn) takeTurn(ctx context.Context) (from place, ok bool, err error) {
	err = c.rows(ctx, "turn", []any{micros(turnPause)}, func(scan func(...any) error) error {
		ok = true
		return scan(&from.locks, &from.claims)
	})
	return from, ok, err
}

func (c *conn) survey(ctx context.Context, from place, keep time.Duration) (s survey, err error) {
	args := []any{append([]byte{}, from.locks...), append([]byte{}, from.claims...), micros(keep), int64(stepRows)}
	err = c.rows(ctx, "survey", args, func(scan func(...any) error) error {
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
			if n, err = conn.number(ctx, "tidy", []byte(name), int64(sweepMost)); err != nil {
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
	return all(ctx, c, "retire", column[string], strings.Join(lines, "\n"), micros(keep)) // or all of it was undone
}
