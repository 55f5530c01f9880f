package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// A session is a connection that all requests of a client share, or all renewals, one after the other. It is opened anew when it broke.
type session struct {
	dialect *Dialect
	way     *way
	open    context.Context
	end     context.CancelCauseFunc // of open
	turn    chan struct{}           // holds a token while nobody uses what follows

	openTime time.Duration // after which others do without this connection; zero for the one that they do with

	conn  *conn // nil when there is none
	bells bells // that hang in conn
}

var errClosed = errors.New("sqllock: the driver is closed")

func newSession(w *way) *session {
	s := &session{dialect: w.dialect, way: w, turn: make(chan struct{}, 1)}
	s.open, s.end = context.WithCancelCause(context.Background())
	s.turn <- struct{}{}
	return s
}

// grace is how long a request that was sent goes on after its caller gave up. To cut it short would cost the connection.
const grace = 2 * time.Second

// run lets f use the connection in its turn, again while others are in the way. It returns when ctx ends, though f may
// go on for a moment: then the outcome is unknown.
func run[T any](ctx context.Context, s *session, f func(context.Context, *conn) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case <-s.turn:
	case <-ctx.Done():
		return none, unsent(context.Cause(ctx))
	case <-s.open.Done():
		return none, unsent(errClosed)
	}
	answer := make(chan result, 1)
	var sent sending
	go func() { // ends with f, and that soon after ctx or the session
		defer func() { s.turn <- struct{}{} }()
		patient, cancel := s.patient(ctx)
		defer cancel()
		var r result
		r.err = s.untilFree(ctx, patient, &sent, func(c *conn) (err error) {
			r.value, err = f(patient, c)
			return err
		})
		answer <- r
		s.ringAll(patient)
	}()
	select {
	case r := <-answer:
		return r.value, s.dialect.explain(r.err)
	case <-ctx.Done():
		if sent.giveUp() {
			return none, unsent(context.Cause(ctx))
		}
		return none, context.Cause(ctx)
	}
}

// inTurn is run without a value.
func inTurn(ctx context.Context, s *session, f func(context.Context, *conn) error) error {
	_, err := run(ctx, s, func(ctx context.Context, conn *conn) (struct{}, error) { return struct{}{}, f(ctx, conn) })
	return err
}

// patient returns a context that ends some time after ctx, or with the session.
func (s *session) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	patient, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	late := context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
	})
	closed := context.AfterFunc(s.open, func() { cancel(errClosed) })
	return patient, func() {
		late()
		closed()
		cancel(nil)
	}
}

// Pauses between two attempts, drawn at random, so that those who collide do not collide again.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// remaking is for how long a routine may be missing since it is made anew.
const remaking = 2 * time.Second

// untilFree repeats f while others are in the way, and once on a new connection where the old one broke before anything
// was sent.
func (s *session) untilFree(ctx, patient context.Context, sent *sending, f func(*conn) error) error {
	fresh, began := false, time.Now()
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		c, opened, err := s.ready(patient)
		if err != nil {
			return unsent(err)
		}
		fresh = fresh || opened
		if ctx.Err() != nil || !sent.begin() {
			return unsent(context.Cause(ctx))
		}
		err = f(c)
		switch {
		case err == nil || isAnswer(err):
			return err
		case s.dialect.isBusy(err) || s.dialect.isMissing(err) && time.Since(began) < remaking:
			sent.undone()
			if driver.Sleep(ctx, rand.N(pause)) != nil {
				return unsent(fmt.Errorf("%w: %w", context.Cause(ctx), err))
			}
		case health.Stray(err) && !c.shared:
			sent.undone() // another session got it, which had it not
			s.drop()
		case isUnsent(err) && !fresh:
			sent.undone()
			s.drop()
		case isUnsent(err):
			s.drop()
			return unsent(err)
		default:
			s.drop()
			return err
		}
	}
}

func isAnswer(err error) bool { return errors.Is(err, driver.ErrGone) }

// ready opens a connection where there is none.
func (s *session) ready(ctx context.Context) (c *conn, opened bool, err error) {
	if s.conn != nil {
		return s.conn, false, nil
	}
	if c, err = s.connect(ctx); err != nil {
		return nil, false, err
	}
	if err := s.dialect.checkVersion(ctx, c.Conn); err != nil {
		return nil, false, errors.Join(err, c.close())
	}
	s.conn = c
	s.bells.allow(s.way.bells())
	return c, true, nil
}

// errNoRoom says that there is no connection for what can be done on another one.
var errNoRoom = errors.New("there is no connection to spare")

func (s *session) connect(ctx context.Context) (*conn, error) {
	if s.openTime == 0 {
		return openConn(ctx, s.way)
	}
	ctx, cancel := context.WithTimeout(ctx, s.openTime)
	defer cancel()
	c, err := openConn(ctx, s.way)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoRoom, err)
	}
	return c, nil
}

// drop gives up the connection, and with it the bells.
func (s *session) drop() {
	if s.conn != nil {
		s.conn.close() // it is of no use, whatever that says
		s.conn = nil
	}
	s.bells.fall()
}

// ringAll rings the bells that became wrong, after the answer that showed it.
func (s *session) ringAll(ctx context.Context) {
	for _, b := range s.bells.takeWrong() {
		if s.conn == nil {
			return
		}
		if err := s.conn.run(ctx, ringBell, b.id, b.which); err != nil {
			s.drop()
		}
	}
}

// close waits for the turn and gives up the connection.
func (s *session) close() {
	s.end(errClosed)
	<-s.turn
	s.drop()
}
