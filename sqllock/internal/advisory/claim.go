package advisory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A claim is what this client knows of one. The tables have what clients say about claims of others.
type claim struct {
	free    chan struct{} // holds a token while nobody is at work on the claim
	phase   phase
	sending *replies.Sending // of the work that is under way
	session *session         // while it waits or is granted, and after its end until the holder knows
	token   uint64
	lost    chan struct{} // closed when the claim is over

	users int // guarded by the driver; while it is 0, nobody looks at the claim
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
		cl = &claim{free: make(chan struct{}, 1), lost: make(chan struct{})}
		cl.free <- struct{}{}
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

// whileFree runs f while nobody else is at work on the claim. It returns when ctx ends, but f goes on: to break off a
// statement would end the session, and the claim with it.
func (d *Driver) whileFree(
	ctx context.Context, c driver.Claim, f func(context.Context, *claim) (driver.Status, error),
) (none driver.Status, _ error) {
	cl, err := d.use(c)
	if err != nil {
		return none, unsent(err)
	}
	if err := d.take(ctx, cl); err != nil {
		d.leave(c, cl)
		return none, unsent(err)
	}
	sent := &replies.Sending{}
	if cl.sending = sent; cl.session != nil {
		sent.Begin() // nothing keeps it from being sent
	}
	var st driver.Status
	var work driver.Group
	done := make(chan struct{})
	work.Go(func() {
		defer close(done)
		defer d.leave(c, cl)
		returned := false
		defer func() {
			if !returned {
				d.abandon(c, cl)
			}
			cl.free <- struct{}{}
		}()
		// After that the session is over, whatever it answers.
		limited, cancel := context.WithTimeout(d.life, c.TTL+time.Second)
		defer cancel()
		st, err = f(limited, cl)
		returned = true
	})
	select {
	case <-done:
		work.Wait() // for its panic
		return st, err
	case <-ctx.Done():
		go work.Wait() // a panic of which no caller learns ends the program
		if sent.GiveUp() {
			return none, unsent(ctx.Err())
		}
		return none, ctx.Err()
	}
}

// take waits until nobody is at work on a claim.
func (d *Driver) take(ctx context.Context, cl *claim) error {
	select {
	case <-cl.free:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.life.Done():
		return driver.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		cl.free <- struct{}{}
		return err
	}
	return nil
}

// unsent marks an error of a request of which nothing came.
var unsent = replies.Unsent

// abandon leaves the session of a claim on which the SQL driver has panicked to the server's idle timeout. To close it
// might take for ever, because package database/sql may still have it locked.
func (d *Driver) abandon(c driver.Claim, cl *claim) {
	cl.session = nil
	if cl.phase != over {
		_ = d.fail(c, cl, errPanicked)
	}
}

var errPanicked = errors.New("the SQL driver has panicked")

// openFor opens a session for the work on a claim, unless the caller has given up meanwhile.
func (d *Driver) openFor(ctx context.Context, cl *claim, ttl time.Duration) (*session, error) {
	s, err := d.open(ctx, ttl)
	switch {
	case err != nil && !cl.sending.IsSent():
		return nil, unsent(err)
	case err == nil && !cl.sending.Begin():
		return nil, errors.Join(unsent(context.Canceled), s.close()) // for nobody: the caller has gone
	}
	return s, err
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

// lose ends a claim whose holder may have been told that it was granted. The claim is remembered for as long as a
// late copy of its request may come. The session is left as it is: if it lives it has the lock, which must not become
// free before the holder knows. A holder that knows releases the claim; otherwise the session ends when the claim is
// forgotten.
func (d *Driver) lose(c driver.Claim, cl *claim, why error) error {
	cl.phase = over
	close(cl.lost)
	time.AfterFunc(c.TTL+d.nature.unit, func() { d.forget(c, cl) })
	return fmt.Errorf("%w: %w", driver.ErrGone, why)
}

// forget ends what is left of a claim that is over. When the driver is closed, Close does that.
func (d *Driver) forget(c driver.Claim, cl *claim) {
	if d.take(context.Background(), cl) != nil {
		return
	}
	cl.hangUp()
	cl.free <- struct{}{}
	d.mu.Lock()
	defer d.mu.Unlock()
	if key := (claimKey{c.Name, c.ID}); d.claims[key] == cl {
		delete(d.claims, key)
	}
}

// fail says what an error of a claim's session means. A granted claim is lost with its session. Another one can be
// requested anew: it has no place in a queue that it could lose.
func (d *Driver) fail(c driver.Claim, cl *claim, err error) error {
	if cl.phase != granted {
		cl.drop()
		return err
	}
	return d.lose(c, cl, fmt.Errorf("its session ended: %w", err))
}
