package driver

import (
	"context"
	"errors"
	"time"
)

// The events of an adapted driver come from the methods by which others wait: Wait, Listen and Watch.

// Subscribe implements [BatchDriver].
func (a *adapted) Subscribe(tell func(Event)) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tells == nil {
		a.tells = make(map[*func(Event)]struct{})
	}
	a.tells[&tell] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.tells, &tell)
	}
}

// tell passes an event on to all subscribers.
func (a *adapted) tell(e Event) {
	a.mu.Lock()
	tells := make([]func(Event), 0, len(a.tells))
	for tell := range a.tells {
		tells = append(tells, *tell)
	}
	a.mu.Unlock()
	for _, tell := range tells {
		tell(e)
	}
}

// A follower tells what happens to one claim.
type follower struct {
	claim   Claim
	granted bool
	cancel  context.CancelFunc
	expiry  *time.Timer // ends it when the claim has ended and nobody said so
	stop    func()      // ends a listener; nil: there is none. The adapted driver's lock guards it
}

// end ends what a follower has under way. The adapted driver's lock is not held, because the driver calls tell
// under its own.
func (a *adapted) end(f *follower) {
	f.cancel()
	f.expiry.Stop()
	a.mu.Lock()
	stop := f.stop
	f.stop = nil
	a.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// note follows a claim, or leaves it, as the result of an operation on it says.
func (a *adapted) note(op Op, r Result) {
	switch {
	case op.Kind == OpRequest && r.Err == nil:
		a.noteStatus(op, r.Status)
	case op.Kind.IsOnClaim() && errors.Is(r.Err, ErrGone) && op.Kind != OpRevoke, op.Kind == OpRelease && r.Err == nil:
		a.unfollow(op.Claim.ID)
	}
}

// noteStatus follows a claim that waits, and a granted one if the request said so.
func (a *adapted) noteStatus(op Op, st Status) {
	c := op.Claim
	if st.Token != 0 {
		c.Token = st.Token
	}
	if st.Granted && !op.Follow || !st.Granted && !c.Queue {
		a.unfollow(c.ID)
		return
	}
	if before := a.follow(op, c, st.Granted); before != nil {
		a.end(before)
	}
}

// follow follows a claim, unless it is followed already. It returns the follower that is to be ended in turn.
func (a *adapted) follow(op Op, c Claim, granted bool) (before *follower) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.followed[c.ID]
	switch {
	case a.open.Err() != nil, len(a.tells) == 0:
		return nil
	case f == nil && !granted && op.Claim.Token != 0: // another client has queued it: Wait has one who waits
		return nil
	case f != nil && f.granted == granted && f.claim.Token == c.Token:
		f.expiry.Reset(longerThan(c.TTL))
		return nil
	}
	a.followed[c.ID] = a.begin(op, c, granted)
	return f
}

// begin begins to follow a claim.
func (a *adapted) begin(op Op, c Claim, granted bool) *follower {
	ctx, cancel := context.WithCancel(a.open)
	f := &follower{claim: c, granted: granted, cancel: cancel}
	f.expiry = time.AfterFunc(longerThan(c.TTL), func() { a.leave(f) })
	l, listens := As[Listener](a.driver)
	switch {
	case granted && listens:
		a.telling.Go(func() { a.listen(ctx, l, f) })
	case !granted || can[Waiter](a.driver):
		a.telling.Go(func() { a.wait(ctx, op, f) })
	}
	return f
}

// longerThan is after how long a claim with this TTL has ended for certain.
func longerThan(ttl time.Duration) time.Duration { return max(ttl, ttl+time.Minute) }

// unfollow ends following a claim.
func (a *adapted) unfollow(id string) {
	a.mu.Lock()
	f := a.followed[id]
	a.mu.Unlock()
	if f != nil {
		a.leave(f)
	}
}

// leave ends a follower, which may have been replaced by another one.
func (a *adapted) leave(f *follower) {
	a.mu.Lock()
	if a.followed[f.claim.ID] == f {
		delete(a.followed, f.claim.ID)
	}
	a.mu.Unlock()
	a.end(f)
}

// adaptedPace are the pauses where the way by which news comes is broken.
var adaptedPace = Backoff{First: 5 * time.Millisecond, Most: 250 * time.Millisecond}

// wait tells what Wait says about a claim.
func (a *adapted) wait(ctx context.Context, op Op, f *follower) {
	pace, c := adaptedPace, f.claim
	for {
		st, err := Wait(ctx, a.driver, c)
		e := Event{Name: c.Name, ID: c.ID, Status: st}
		switch {
		case ctx.Err() != nil && !errors.Is(err, ErrGone) && st == Status{}:
			return
		case errors.Is(err, ErrGone):
			e.Err = err
			a.tell(e)
			a.leave(f)
			return
		case err != nil:
			pace.Pause(ctx)
			e.Status = Status{}
		default:
			pace.Reset()
		}
		a.tell(e)
		if st.Granted && !f.granted {
			a.noteStatus(op, st)
			return
		}
	}
}

// listen has a granted claim listened for.
func (a *adapted) listen(ctx context.Context, l Listener, f *follower) {
	e := Event{Name: f.claim.Name, ID: f.claim.ID}
	for pace := adaptedPace; ctx.Err() == nil; pace.Pause(ctx) {
		stop, err := l.Listen(ctx, f.claim, func() { a.tell(e) })
		if err != nil {
			continue
		}
		a.mu.Lock()
		f.stop = stop
		a.mu.Unlock()
		if ctx.Err() != nil {
			a.end(f)
		}
		return
	}
}

// watch has the next change of a queue told.
func (a *adapted) watch(ctx context.Context, name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case a.open.Err() != nil:
		return ErrClosed
	case a.watched[name]:
		return nil
	}
	a.watched[name] = true
	a.telling.Go(func() {
		err := Watch(a.open, a.driver, name)
		if err != nil {
			Sleep(a.open, watchPause) // the one who is told will ask to watch again
		}
		a.mu.Lock()
		delete(a.watched, name)
		a.mu.Unlock()
		if a.open.Err() == nil {
			a.tell(Event{Name: name})
		}
	})
	return nil
}
