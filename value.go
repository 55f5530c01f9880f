package holdfast

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Value is text that a lock keeps from one holder to the next, with the fencing token of the lease that set it, and
// when that was by the clock of the process that did. The zero Value says that there is none.
type Value = driver.Value

// Value returns what a holder of the lock has set last: see [Lease.SetValue]. An error that matches
// [errors.ErrUnsupported] says that the backend keeps no values.
func (c *Client) Value(ctx context.Context, name string) (Value, error) {
	l := c.lock(name, nil)
	if err := errors.Join(c.closed(), c.checkName(name)); err != nil {
		return Value{}, l.failure("value of", err)
	}
	a := l.ask(ctx, driver.OpValue, "")
	if a.Err != nil {
		return Value{}, l.unserved(ctx, "value of", a.Err)
	}
	return a.Value, nil
}

// Value returns what this holder or one before it has set last: see [Lease.SetValue].
func (l *Lease) Value(ctx context.Context) (Value, error) {
	return l.grant.lock.client.Value(ctx, l.Name())
}

// SetValue leaves a text of up to [driver.MaxValue] bytes with the lock for whoever holds it next, such as how far the
// work under it has come: [Client.Value] reads it. It stays until another is set, also while nobody holds the lock; an
// empty text removes it. Only who holds the lock alone can set it: by a mutex, as a writer, as a leader.
//
// nil says that the lease was held when the backend set the value, and a *LostError alone that nothing was set because
// it was not. ErrUnknown says that the value may be set, or still be while the claim lives: the backend did not answer
// before ctx or the lease ended. Of several calls at once one may fail because another, which began later, was quicker.
func (l *Lease) SetValue(ctx context.Context, text string) error {
	if err := l.over(); err != nil {
		return err
	}
	g := l.grant
	if g.ask.mode != exclusive {
		return g.lock.failure("set the value of", errors.ErrUnsupported, errSharedValue)
	}
	c := g.lock.client
	c.background.enter() // Close waits for it
	defer c.background.leave()
	if err := c.closed(); err != nil {
		return g.lock.failure("set the value of", err)
	}
	v := Value{Text: text, Token: l.Token(), Set: c.stamps.next()}
	if err := v.Validate(); err != nil && c.traits.Ops.Has(driver.OpSetValue) {
		return g.lock.failure("set the value of", err)
	}
	err := l.setValue(ctx, v)
	if !g.hold.resumed || !errors.Is(err, driver.ErrOlderValue) {
		return err
	}
	before, err := l.Value(ctx)
	if err != nil {
		return err
	}
	c.stamps.follow(before.Set) // of a process that had the same lease, and a clock ahead of ours
	v.Set = c.stamps.next()
	return l.setValue(ctx, v)
}

var errSharedValue = errors.New("others may hold the lock too; only a mutex, a writer or a leader sets its value")

// setValue sets one value. Until the backend has answered, the hold goes to nobody else in this process: the claim
// would stay the same, and the value be set beside its next holder.
func (l *Lease) setValue(ctx context.Context, v Value) error {
	h := l.grant.hold
	h.settingValue(1)
	r := l.setUntilAnswered(ctx, v)
	if r.answered {
		h.settingValue(-1)
	}
	if r.answered && isGone(r.err) {
		h.gone(r.err)
		r.err = nil
	}
	switch ended := l.over(); {
	case ended != nil && r.maybe:
		return h.lock.failure("set the value of", ErrUnknown, cmp.Or(r.err, ended))
	case r.err != nil:
		return h.lock.failure("set the value of", r.err)
	default:
		return ended
	}
}

// A setting is what came of setting a value.
type setting struct {
	answered bool  // the last attempt was
	maybe    bool  // the value was set, or may be
	err      error // why it was not, or why that is not known
}

// setUntilAnswered asks the backend until it answers, always for the same value, or until ctx, the lease or the client
// ends.
func (l *Lease) setUntilAnswered(ctx context.Context, v Value) (r setting) {
	h, start := l.grant.hold, now()
	ctx, stop := h.lock.client.untilClosed(ctx)
	defer stop()
	var said error // by the server
	for attempts, pace := 1, newPace(); ; attempts++ {
		r.err = h.setOnce(ctx, v)
		r.answered = driver.IsAnswer(r.err)
		r.maybe = r.maybe || r.err == nil || !r.answered && !isUnsent(r.err)
		if r.answered {
			return r
		}
		if ctx.Err() != nil || l.over() != nil || pace.Pause(ctx) != nil || l.over() != nil {
			r.err = joined{cmp.Or(l.over(), context.Cause(ctx)), silence(ctx, attempts, start, after(said, r.err))}
			if r.maybe {
				r.err = joined{ErrUnknown, r.err}
			}
			return r
		}
		said = serverError(said, r.err)
	}
}

// settingValue counts the values that may still be set in the name of the hold.
func (h *hold) settingValue(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setting += n
}

// setOnce makes one attempt.
func (h *hold) setOnce(ctx context.Context, v Value) error {
	op := driver.Op{Kind: driver.OpSetValue, Claim: h.renewal().Claim, Value: v}
	return h.lock.client.sender.Do(ctx, op, attemptLimit(h.grantedTTL())).Err
}

// stamps tell the values that one client sets in order, also those of one microsecond.
type stamps struct{ last atomic.Int64 }

// next is the time in microseconds, or just after the last stamp if that is not before.
func (s *stamps) next() time.Time {
	for {
		last := s.last.Load()
		stamp := max(last+1, time.Now().UnixMicro())
		if s.last.CompareAndSwap(last, stamp) {
			return time.UnixMicro(stamp)
		}
	}
}

// follow makes the next stamp one after t.
func (s *stamps) follow(t time.Time) {
	for last := s.last.Load(); last < t.UnixMicro() && !s.last.CompareAndSwap(last, t.UnixMicro()); {
		last = s.last.Load()
	}
}
