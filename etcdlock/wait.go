package etcdlock

import (
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// wait blocks until a claim that waits is granted, or has ended, as [driver.Followers] says.
//
// It watches the claim's own key and what the claim waits for. Both watches go on between calls, until it is granted.
// If one breaks, because the history was compacted, the server has no leader, or the stream ended, it is made anew,
// and the claim looked at again.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	e := d.claims.Known(c)
	switch {
	case e == nil, e.isGone() && c.Token != 0 && !e.IsLeaving():
		return driver.Status{}, pause(ctx) // another client may keep it: the answer to a request says so
	case e.isGone(), c.Token != 0 && c.Token != e.Token():
		return driver.Status{}, driver.ErrGone
	case e.Token() == 0:
		return driver.Status{}, pause(ctx) // its request was not answered yet
	}
	return e.Alone(ctx, e.wait)
}

// wait follows the claim until it is granted. No other call goes on meanwhile.
func (e *claim) wait(ctx context.Context) (driver.Status, error) {
	defer func() {
		if e.IsGranted() {
			e.stopWatching()
		}
	}()
	for !e.IsGranted() {
		e.watchBoth() // before the look, so that no change comes in between
		next := e.awaitNews
		if e.unread() {
			next = e.lookAgain
		}
		if err := next(ctx); err != nil {
			return driver.Status{}, err
		}
	}
	return e.Status(), nil
}

// watchBoth makes sure that the claim's key and what it waits for are watched. The watches end with the claim.
func (e *claim) watchBoth() {
	life := e.life()
	if e.self == nil {
		e.self = e.d.watch(life, e.key)
	}
	key, opts := e.blocker()
	if e.ahead != nil && e.ahead.key != key {
		e.ahead.cancel()
		e.ahead = nil
	}
	if e.ahead == nil && key != "" {
		e.ahead = e.d.watch(life, key, opts...)
	}
}

// life is a context that ends with the claim, or when it is granted.
func (e *claim) life() context.Context {
	if e.stopped() {
		e.self, e.ahead = nil, nil
		e.mu.Lock()
		e.lifetime, e.stop = context.WithCancel(e.d.lifetime)
		e.mu.Unlock()
	}
	if e.IsOver() {
		e.stopWatching()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lifetime
}

// stopped reports whether the watches have ended, or there were none.
func (e *claim) stopped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lifetime == nil || e.lifetime.Err() != nil
}

// stopWatching ends the watches. Nobody would take their news from a claim that is granted, and clients of etcd keep
// all that nobody takes.
func (e *claim) stopWatching() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop != nil {
		e.stop()
	}
}

// blocker is what to watch for a claim that waits; nothing once it is granted.
func (e *claim) blocker() (key string, opts []clientv3.OpOption) {
	switch v := e.Verdict(); {
	case v.Granted:
		return "", nil
	case v.Until == leased.AnyEnd, v.Sure: // then it is granted unread, if its own end is not told first: see newsOfAll
		return e.queue, []clientv3.OpOption{clientv3.WithPrefix()}
	default:
		return v.Watch, nil
	}
}

// unread reports whether something may have happened before the watches were created, and after the last look.
func (e *claim) unread() bool {
	if !e.self.created() || e.ahead != nil && !e.ahead.created() {
		return false // their creation is the next news
	}
	read := e.Revision()
	return e.due || read < e.self.since || e.ahead != nil && read < e.ahead.since
}

// lookAgain reads the claim. Should that fail, a look is still due, even when a renewal is answered meanwhile:
// that one may have read before what led to this look happened. No other call goes on meanwhile.
func (e *claim) lookAgain(ctx context.Context) error {
	q := e.inquiry(!e.due) // what it waits for has ended then, or may have
	e.due = true
	_, err := e.d.peek(ctx, q)
	e.due = err != nil
	if answersGone(err) {
		e.rememberEnd()
	}
	return err
}

// awaitNews waits for the next news of either watch, or of a renewal, and notes them. What happened to the claim itself
// comes first: the end of the one ahead means nothing to a claim that is gone.
func (e *claim) awaitNews(ctx context.Context) error {
	select {
	case r, ok := <-e.self.channel():
		return e.newsOfSelf(ctx, r, ok)
	default:
	}
	l := e.leased()
	select {
	case r, ok := <-e.self.channel():
		return e.newsOfSelf(ctx, r, ok)
	case r, ok := <-e.ahead.channel():
		return e.newsAhead(ctx, r, ok)
	case <-e.News():
		return nil
	case <-e.Over():
		return driver.ErrGone
	case <-l.lost:
		if e.isGone() {
			return driver.ErrGone
		}
		return pause(ctx) // it is attached to another one by now, or may be
	case <-e.d.lifetime.Done():
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newsOfSelf notes what happened to the claim's own key.
func (e *claim) newsOfSelf(ctx context.Context, r clientv3.WatchResponse, ok bool) error {
	if broken(r, ok) {
		return e.restart(ctx, &e.self)
	}
	e.self.note(r)
	for _, event := range r.Events {
		switch s, ok, err := e.d.seat(e.queue, event.Kv); {
		case event.Kv.ModRevision <= int64(e.Token()): // of a claim that had the key before
		case event.Type == mvccpb.Event_DELETE:
			e.rememberEnd()
			return driver.ErrGone
		case ok && err == nil:
			e.Revoke(s.Revoked)
		}
	}
	return nil
}

// newsAhead notes what happened to what the claim waits for.
func (e *claim) newsAhead(ctx context.Context, r clientv3.WatchResponse, ok bool) error {
	if broken(r, ok) {
		return e.restart(ctx, &e.ahead)
	}
	e.ahead.note(r)
	if v := e.Verdict(); v.Sure && e.ahead.key == e.queue {
		return e.newsOfAll(ctx, r, v)
	}
	if !slices.ContainsFunc(r.Events, e.awaited) {
		return nil
	}
	e.due = true
	return e.lookAgain(ctx)
}

// newsOfAll notes what happened in the queue to a claim that has one ahead. The end of that one grants it, so that it
// need not be read, unless its own came first or with it. One watch tells both, in their order; of two watches nobody
// knows which one is ahead. Keys are used again. What ended before the last reading,
// as a server that lags tells late, is not what was ahead then.
func (e *claim) newsOfAll(ctx context.Context, r clientv3.WatchResponse, v leased.Verdict) error {
	ended := func(key string, after int64) bool {
		return slices.ContainsFunc(r.Events, func(event *clientv3.Event) bool {
			return event.Type == mvccpb.Event_DELETE && string(event.Kv.Key) == key && event.Kv.ModRevision > after
		})
	}
	switch {
	case ended(e.key, int64(e.Token())):
		e.rememberEnd()
		return driver.ErrGone
	case !ended(v.Watch, e.Revision()):
		return nil
	case e.canTell():
		e.Grant()
		return nil
	}
	e.due = true
	return e.lookAgain(ctx)
}

// canTell reports whether the claim was read since the queue is watched, so that it was there, and its time has not
// come.
func (e *claim) canTell() bool { return !e.due && e.Revision() >= e.ahead.since && e.Lives() }

// awaited reports whether this is what the claim waits for.
func (e *claim) awaited(event *clientv3.Event) bool {
	if event.Type == mvccpb.Event_DELETE {
		return true
	}
	if e.Verdict().Until != leased.ItsTurn {
		return false
	}
	s, ok, err := e.d.seat(e.queue, event.Kv)
	return !ok || err != nil || s.Fits != nil
}

// restart drops a broken watch; the next round makes a new one, after a pause. There is none after a watch that was
// stopped: the claim has been granted meanwhile.
func (e *claim) restart(ctx context.Context, f **watcher) error {
	(*f).cancel()
	*f = nil
	if e.stopped() {
		return nil
	}
	return pause(ctx)
}
