package advisory

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A claim is what this client knows of one. What is said of claims by others is in the tables.
type claim struct {
	turn    chan struct{} // holds a token while nobody is at work on the claim
	phase   phase
	sending *sending // of the turn that is under way
	session *session // while it waits or is granted, and when it is over until its holder knows
	token   uint64
	lost    chan struct{} // closed when the claim is over

	users int // guarded by the driver; with none of them, nobody else looks at the claim
}

type phase int

const (
	unknown phase = iota // to this client
	waiting
	granted
	over // it was lost, and this client may have been told that it had it
)

type claimKey struct{ name, id string }

// use finds a claim, or begins to know it.
func (d *Driver) use(c driver.Claim) (*claim, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claims == nil {
		return nil, driver.ErrClosed
	}
	key := claimKey{c.Name, c.ID}
	cl := d.claims[key]
	if cl == nil {
		cl = &claim{turn: make(chan struct{}, 1), lost: make(chan struct{})}
		cl.turn <- struct{}{}
		d.claims[key] = cl
	}
	cl.users++
	return cl, nil
}

// leave forgets a claim of which nothing is known.
func (d *Driver) leave(c driver.Claim, cl *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cl.users--; cl.users == 0 && cl.phase == unknown {
		delete(d.claims, claimKey{c.Name, c.ID})
	}
}

// inTurn runs f while nobody else is at work on the claim. It returns when ctx ends, but f goes on then: to break off a
// statement would end the session, and the claim with it.
func inTurn[T any](ctx context.Context, d *Driver, c driver.Claim, f func(context.Context, *claim) (T, error)) (none T, _ error) {
	cl, err := d.use(c)
	if err != nil {
		return none, unsent(err)
	}
	select {
	case <-cl.turn:
	case <-ctx.Done():
		d.leave(c, cl)
		return none, unsent(ctx.Err())
	case <-d.life.Done():
		return none, unsent(driver.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		cl.turn <- struct{}{}
		d.leave(c, cl)
		return none, unsent(err)
	}
	sent := &sending{}
	if cl.sending = sent; cl.session != nil {
		sent.begin() // nothing keeps it from being sent
	}
	var v T
	done := make(chan struct{})
	go func() {
		defer close(done)
		limited, cancel := context.WithTimeout(d.life, c.TTL+time.Second) // then the session is over, whatever it answers
		defer cancel()
		v, err = f(limited, cl)
		cl.turn <- struct{}{}
		d.leave(c, cl)
	}()
	select {
	case <-done:
		return v, err
	case <-ctx.Done():
		if sent.giveUp() {
			return none, unsent(ctx.Err())
		}
		return none, ctx.Err()
	}
}

// openFor opens a session for what is done in a claim's turn, unless the caller has given up meanwhile.
func (d *Driver) openFor(ctx context.Context, cl *claim, ttl time.Duration) (*session, error) {
	s, err := d.open(ctx, ttl)
	if err != nil {
		if cl.sending.state.Load() != isSent {
			err = unsent(err)
		}
		return nil, err
	}
	if err := cl.sending.begin(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// hangUp ends the session of a claim, and so frees its lock.
func (cl *claim) hangUp() {
	if cl.session != nil {
		_ = cl.session.close() // what it cannot say any more, the server's idle timeout will
	}
	cl.session = nil
}

// drop ends the session of a claim, and forgets the claim.
func (cl *claim) drop() {
	cl.hangUp()
	cl.phase, cl.token = unknown, 0
}

// lose ends a claim that this client may have been told that it had, which is remembered for as long as a late copy of
// its request may come. Its session is left as it is: if it lives, it has the lock, which must not be free before the
// holder knows. Who knows releases the claim; otherwise the session ends when the claim is forgotten.
func (d *Driver) lose(c driver.Claim, cl *claim, why error) error {
	cl.phase = over
	close(cl.lost)
	time.AfterFunc(c.TTL+d.nature.unit, func() { d.forget(c, cl) })
	return fmt.Errorf("%w: %w", driver.ErrGone, why)
}

// forget ends what is left of a claim that is over, unless the driver is closed, which does so, too.
func (d *Driver) forget(c driver.Claim, cl *claim) {
	select {
	case <-cl.turn:
	case <-d.life.Done():
		return
	}
	cl.hangUp()
	cl.turn <- struct{}{}
	d.mu.Lock()
	defer d.mu.Unlock()
	if key := (claimKey{c.Name, c.ID}); d.claims[key] == cl {
		delete(d.claims, key)
	}
}

// fail judges an error of a claim's session. A granted claim is lost with it. One that was not can be requested anew: it
// has no place in a queue that it could lose.
func (d *Driver) fail(c driver.Claim, cl *claim, err error) error {
	if cl.phase != granted {
		cl.drop()
		return err
	}
	return d.lose(c, cl, fmt.Errorf("its session ended: %w", err))
}
