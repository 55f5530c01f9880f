package servertables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A lane is a connection that work goes through, one piece after the other. It is opened anew when it broke.
type lane struct {
	pool *pool

	// Guarded by the pool.
	busy  bool    // somebody has the turn
	given bool    // and nobody waits for what that one does
	gone  bool    // it is closed for good
	turns uint64  // so far
	line  []*task // who waits for this lane and no other
	timer *time.Timer

	// For who has the turn.
	conn      *conn     // nil when there is none
	wakeLocks wakeLocks // of conn
	work      chan func()
}

// begin does the work of a turn on the lane's goroutine, whose stack grows once, and which ends when the lane is gone.
func (l *lane) begin(work func()) {
	if l.work == nil {
		l.work = make(chan func(), 1)
		go func() {
			for work := range l.work {
				work()
			}
		}()
	}
	l.work <- work
}

// join adds a task to a line where it belongs by its age.
func (l *lane) join(v *task) {
	at, _ := slices.BinarySearchFunc(l.line, v.number, func(o *task, n uint64) int { return cmp.Compare(o.number, n) })
	l.line = slices.Insert(l.line, at, v)
}

// How long lanes that are idle stay open: while others wait it is better to keep one, but each costs the server memory.
const (
	idleTime = 2 * time.Second
	openTime = time.Second     // how long opening one more connection may take, where others wait for that
	laneTime = 5 * time.Second // the same where they go on meanwhile
)

// retireLater lets a lane that is free be closed after a while.
func (l *lane) retireLater() {
	switch {
	case len(l.pool.lanes) <= l.pool.stay:
	case l.timer == nil:
		l.timer = time.AfterFunc(idleTime, func() { l.pool.retire(l) })
	default:
		l.timer.Reset(idleTime)
	}
}

// grace is how long a request that was sent goes on after its caller gave up. To cut it short would
// cost the connection.
const grace = 2 * time.Second

// closingGrace is how long a statement goes on after the driver was closed: to cut it off is an error in the server's
// log.
const closingGrace = longestWait + 200*time.Millisecond

// run repeats attempt as long as the row is locked by another session. Where a pool has no connection to spare, it goes
// on in the one that does the work instead.
func run[T any](ctx context.Context, p *pool, at affinity, f func(context.Context, *lane) (T, error)) (T, error) {
	for {
		v, err := attempt(ctx, p, at, f)
		switch {
		case errors.Is(err, errNoSpare) && p.instead != nil:
			p = p.instead
		case !errors.Is(err, errRowLocked):
			return v, err
		}
	}
}

// attempt lets f use a lane in its turn, again while others are in the way for a moment. It returns when ctx ends,
// though f may go on: then the outcome is unknown, and what f returns is lost.
func attempt[T any](ctx context.Context, p *pool, at affinity, f func(context.Context, *lane) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	l, h, err := p.enter(ctx, at)
	if err != nil {
		return none, unsent(err)
	}
	turn, answer := l.turns, make(chan result, 1)
	var sent replies.Sending
	l.begin(func() { // ends with f, and that soon after ctx or the pool
		patient, cancel := p.patient(ctx)
		defer cancel()
		var r result
		r.err = l.untilFree(ctx, patient, &sent, func() (err error) {
			r.value, err = f(patient, l)
			return err
		})
		p.leave(l, h) // first: whoever asks again after the answer finds the lane free
		answer <- r
	})
	select {
	case r := <-answer:
		return r.value, p.endpoint.dialect.explain(r.err)
	case <-ctx.Done():
		if sent.GiveUp() {
			return none, unsent(replies.GaveUp(ctx))
		}
		p.giveAway(l, turn)
		return none, replies.GaveUp(ctx)
	}
}

// inTurn is run without a value.
func inTurn(ctx context.Context, p *pool, at affinity, f func(context.Context, *lane) error) error {
	_, err := run(ctx, p, at, func(ctx context.Context, l *lane) (struct{}, error) { return struct{}{}, f(ctx, l) })
	return err
}

// patient returns a context that ends some time after ctx, or after the pool.
func (p *pool) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	patient, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	late := context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() { cancel(replies.GaveUp(ctx)) })
	})
	closed := context.AfterFunc(p.open, func() {
		time.AfterFunc(closingGrace, func() { cancel(driver.ErrClosed) })
	})
	return patient, func() {
		late()
		closed()
		cancel(nil)
	}
}

// remaking is for how long a routine may be missing since it is made anew.
const remaking = 2 * time.Second

// untilFree repeats f while others are in the way, and once on a new connection where the old one broke before anything
// was sent.
func (l *lane) untilFree(ctx, patient context.Context, sent *replies.Sending, f func() error) error {
	dialect := l.pool.endpoint.dialect
	fresh, began := false, time.Now()
	pace := server.Pace()
	for {
		opened, err := l.ready(patient)
		if err != nil {
			return unsent(err)
		}
		fresh = fresh || opened
		if ctx.Err() != nil || !sent.Begin() {
			return unsent(replies.GaveUp(ctx))
		}
		err = f()
		switch {
		case err == nil || errors.Is(err, driver.ErrGone):
			return err
		case dbms.Taken(err): // another session has kept a row locked for long
			sent.Undone()
			return unsent(fmt.Errorf("%w: %w", errRowLocked, err))
		case dialect.isBusy(err) || dialect.isMissing(err) && time.Since(began) < remaking:
			sent.Undone()
			if pace.Pause(ctx) != nil {
				return unsent(fmt.Errorf("%w: %w", replies.GaveUp(ctx), err))
			}
		case health.Stray(err) && !l.conn.shared:
			sent.Undone() // another session got it, which had it not
			l.drop()
		case dialect.isLost(err):
			l.drop()
			return unsent(err)
		case isUnsent(err) && !fresh:
			sent.Undone()
			l.drop()
		case isUnsent(err):
			l.drop()
			return unsent(err)
		default:
			l.drop()
			return err
		}
	}
}

// ready opens a connection where there is none.
func (l *lane) ready(ctx context.Context) (opened bool, err error) {
	if l.conn != nil {
		return false, nil
	}
	l.conn, err = l.pool.connectFor(ctx)
	return err == nil, err
}

// drop gives up the connection, and the wake locks with it.
func (l *lane) drop() {
	if l.conn != nil {
		l.conn.close() // it is of no use, whatever that says
		l.conn = nil
	}
	l.wakeLocks.forget()
}

// wantsWakeLocks reports whether the next request should take the wake locks of a claim. They are in the lanes of
// requests, so that the call which releases a claim releases them too.
func (l *lane) wantsWakeLocks(id string) bool {
	return l.pool.must && l.wakeLocks.wanted(id, l.pool.endpoint.wakeLocks())
}

// hasWakeLocks reports whether the connection has wake locks.
func (l *lane) hasWakeLocks() bool { return l.wakeLocks.claims() > 0 }

// runFrom is run for f that goes on from somewhere. It gets from as a copy, because f may go on when runFrom has
// returned and the caller has gone on, too.
func runFrom[F, T any](
	ctx context.Context, p *pool, from F, f func(context.Context, *conn, F) (T, error),
) (T, error) {
	return run(ctx, p, affinity{}, func(ctx context.Context, l *lane) (T, error) { return f(ctx, l.conn, from) })
}
