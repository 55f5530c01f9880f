package zklock

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// wait blocks until a claim that waits is granted, or has ended, as [driver.Followers] says.
//
// It watches the claim's own node, what the claim waits for, and what that waits for. The watches go on between calls.
// After a new connection, it looks again.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	e := d.claims.Known(c)
	switch {
	case e == nil:
		return driver.Status{}, pause(ctx) // the answer to a request says that it is gone
	case e.isGone():
		return driver.Status{}, e.goneError()
	case c.Token != 0 && c.Token != e.Token():
		return driver.Status{}, driver.ErrGone
	case e.place() == "" || e.Token() == 0:
		return driver.Status{}, pause(ctx) // its request was not answered yet
	}
	return e.Alone(ctx, e.wait)
}

// wait follows the claim until it is granted. No other call goes on meanwhile.
func (e *claim) wait(ctx context.Context) (driver.Status, error) {
	for {
		if err := e.keepWatch(ctx); err != nil { // before the look, so that no change comes in between
			return driver.Status{}, err
		}
		if e.IsGranted() {
			return e.Status(), nil
		}
		ready, err := e.watchAhead(ctx)
		if err == nil && ready {
			ready, err = e.watchSecond(ctx)
		}
		if err == nil && ready {
			err = e.awaitNews(ctx)
		}
		if err != nil {
			return driver.Status{}, err
		}
	}
}

// watchAhead makes sure that what the claim waits for is watched. When that has happened already, it looks, and is
// not ready.
func (e *claim) watchAhead(ctx context.Context) (ready bool, err error) {
	at, any := e.blocker()
	switch {
	case at == spot{}:
		e.ahead = nil
		return true, nil
	case e.ahead != nil && e.ahead.spot == at:
		return true, nil
	}
	w, err := e.s.watch(ctx, at)
	switch {
	case isNoNode(err):
		if err := e.lookAgain(ctx); err != nil {
			return false, err
		}
		if still, _ := e.blocker(); still != at {
			return false, nil
		}
		return e.watchQueue(ctx) // somebody has deleted the note of a claim that is there still
	case err != nil:
		return false, err
	}
	e.ahead = w
	if any || e.hasTurned(w) {
		// It may have happened after the last look, and before the watch began, whoever began it.
		return false, e.lookAgain(ctx)
	}
	return true, nil
}

// watchSecond makes sure that the second claim ahead is watched, where the verdict names it. When that ends, this claim
// is the next in line. It looks then, while the lock is held, so that it need not look when the lock is free. It is not
// ready when it has looked already.
func (e *claim) watchSecond(ctx context.Context) (ready bool, err error) {
	at := spot{e.Verdict().Second, itsData}
	switch {
	case at.path == "":
		e.second = nil
		return true, nil
	case e.second != nil && e.second.spot == at:
		return true, nil
	}
	w, err := e.s.watch(ctx, at)
	switch {
	case isNoNode(err):
		return false, e.lookAgain(ctx)
	case err != nil:
		return false, err
	}
	e.second = w
	return true, nil
}

// watchQueue is watchAhead where every child counts.
func (e *claim) watchQueue(ctx context.Context) (ready bool, err error) {
	at := spot{e.queue, itsChildren}
	if e.ahead != nil && e.ahead.spot == at {
		return true, nil
	}
	if e.ahead, err = e.s.watch(ctx, at); err != nil {
		e.ahead = nil
		return false, err
	}
	return false, e.lookAgain(ctx)
}

// blocker is what to watch for a claim that waits; nothing once it is granted. any says that every child counts.
func (e *claim) blocker() (at spot, any bool) {
	switch v := e.Verdict(); {
	case v.Granted:
		return spot{}, false
	case v.Until == leased.AnyEnd:
		return spot{e.queue, itsChildren}, true
	default:
		return spot{v.Watch, itsData}, false
	}
}

// hasTurned reports whether the note that is watched says that its claim is granted, or has ended.
func (e *claim) hasTurned(w *watch) bool {
	if e.Verdict().Until != leased.ItsTurn {
		return false
	}
	r, err := e.d.decode(w.spot.path, w.data)
	return err == nil && (r.Granted || r.End != alive)
}

// lookAgain looks, and drops a watch that has fired.
func (e *claim) lookAgain(ctx context.Context) error {
	if w := e.ahead; w != nil {
		select {
		case <-w.fired:
			e.ahead = nil
		default:
		}
	}
	_, err := e.look(ctx)
	return err
}

// awaitNews waits for the next news. What happened to the claim itself comes first.
func (e *claim) awaitNews(ctx context.Context) error {
	e.mu.Lock()
	self := e.self
	e.mu.Unlock()
	select {
	case event := <-self:
		return e.newsOfSelf(event)
	case <-e.ahead.channel():
		return e.newsAhead(ctx)
	case <-e.second.channel():
		e.second = nil
		return e.lookAgain(ctx)
	case <-e.s.nextConnection():
		return e.lookAnew(ctx)
	case <-e.News():
		return nil
	case <-e.Over():
		return e.goneError()
	case <-e.s.lost:
		e.rememberEnd()
		return e.goneError()
	case <-e.d.lifetime.Done():
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newsAhead looks again, or knows the answer.
func (e *claim) newsAhead(ctx context.Context) error {
	w := e.ahead
	e.ahead = nil
	if w.event.Type == zk.EventNodeDeleted && e.canTell(w.spot) {
		e.Grant()
		return nil
	}
	return e.lookAgain(ctx)
}

// canTell reports whether the end of what was watched grants the claim, so that it need not look: nothing else was
// ahead of it, and it is there itself, for ZooKeeper tells of changes in their order, its own watch tells nothing,
// and its time has not come.
func (e *claim) canTell(at spot) bool {
	e.mu.Lock()
	quiet := e.self != nil && len(e.self) == 0
	e.mu.Unlock()
	v := e.Verdict()
	return v.Sure && v.Watch == at.path && quiet && e.Lives()
}

// lookAnew looks after a reconnection. The server may be another one, which lags behind.
func (e *claim) lookAnew(ctx context.Context) error {
	if err := e.s.sync(ctx); err != nil {
		return err
	}
	if err := e.watchSelf(ctx); err != nil {
		return err
	}
	return e.lookAgain(ctx)
}
