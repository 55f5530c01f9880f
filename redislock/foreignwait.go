package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// askEvery is the longest pause between two questions where there is no connection to listen on.
const askEvery = 250 * time.Millisecond

// note listens for a claim that waits, and ends that where it does not.
func (f *foreign) note(op driver.Op, r driver.Result) {
	switch c := op.Claim; {
	case op.Kind != driver.OpRequest || r.Err != nil:
	case r.Status.Granted || !c.Queue:
		f.listener.forget(c.ID)
	case f.listener.hears(c.ID):
	case f.channels.address(c.Name) == nowhere && f.channels.count() >= mostHeard:
		f.askLater(c.ID)
	default:
		go f.listen(c)
	}
}

// listen listens for a claim, and has it asked about then, because the lock may have become free before.
func (f *foreign) listen(c driver.Claim) {
	if err := f.channels.ready(context.Background(), c.Name); err != nil {
		f.askLater(c.ID)
		return
	}
	f.listener.askClaim(c.ID)
}

// askLater has a claim asked about after a pause.
func (f *foreign) askLater(id string) { time.AfterFunc(askEvery, func() { f.listener.askClaim(id) }) }

// pop takes a signal from a list. Each signal wakes one client, so only a claim that waits may take one: one that comes
// when the claim has stopped waiting is passed on.
func (f *foreign) pop(ctx context.Context, c driver.Claim) (ask driver.Status, err error) {
	select {
	case f.popping <- struct{}{}:
	default:
		return ask, driver.Pause(ctx, askEvery)
	}
	waits, stop := context.WithCancel(ctx)
	defer stop()
	f.stops.Store(c.ID, stop)
	defer f.stops.Delete(c.ID)
	popped := make(chan error)
	go func() {
		defer func() { <-f.popping }()
		f.popInto(waits, c, popped)
	}()
	select {
	case err := <-popped:
		return ask, err
	case <-waits.Done():
		return ask, driver.Pause(ctx, askEvery) // the claim is being given back
	}
}

// popInto pops until a signal comes, or the claim has stopped waiting. A pop that has begun is not broken off: the
// server may have given it a signal already.
func (f *foreign) popInto(waits context.Context, c driver.Claim, popped chan<- error) {
	for waits.Err() == nil {
		came, err := f.popOnce(context.WithoutCancel(waits), f.form(c.Name).signal, popFor)
		if !came && err == nil {
			continue
		}
		select {
		case popped <- err:
		case <-waits.Done():
			if came {
				f.passOn(c)
			}
		}
		return
	}
}

// stopWaiting has a claim take no more signals.
func (f *foreign) stopWaiting(id string) {
	if stop, waits := f.stops.LoadAndDelete(id); waits {
		stop.(context.CancelFunc)()
	}
}

// passOn wakes another one in the place of a claim that has stopped waiting, unless somebody has the lock.
func (f *foreign) passOn(c driver.Claim) {
	ctx, cancel := context.WithTimeout(context.Background(), popFor) // for so long signals live
	defer cancel()
	_, _ = f.passing.run(ctx, f.conn, f.keys(c), nil) // those who wait look by themselves after their timeouts, too
}

// popOnce waits for a signal for some time, and reports whether one came.
func (f *foreign) popOnce(ctx context.Context, list string, wait time.Duration) (bool, error) {
	seconds := strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)
	cmd := Command{Head: []string{"BLPOP"}, Keys: []string{list}, Tail: []string{seconds}}
	reply := f.conn.DoTogether(ctx, []Command{cmd})[0]
	return len(reply.Values) > 0, explain(reply.Err)
}

// tryToListen waits for a signal as wait does, for as short as can be, or begins to listen.
func (f *foreign) tryToListen(ctx context.Context, lock string) error {
	if f.opts.Layout == PythonRedisLock {
		_, err := f.popOnce(ctx, f.form(lock).signal, time.Millisecond)
		return err
	}
	return f.channels.ready(ctx, lock)
}
