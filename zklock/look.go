package zklock

import (
	"context"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// look reads the queue, and answers about the claim in it. [driver.ErrGone] when it is not there.
func (e *claim) look(ctx context.Context) (driver.Status, error) {
	seats, err := e.s.seats(ctx, e.queue)
	if err != nil {
		return driver.Status{}, err
	}
	return e.among(seats)
}

// among is look with the queue as it was read.
func (e *claim) among(seats []seat) (driver.Status, error) {
	node := path.Base(e.place())
	at := slices.IndexFunc(seats, func(s seat) bool { return s.node == node })
	if at < 0 {
		e.rememberEnd()
		return driver.Status{}, driver.ErrGone
	}
	if err := e.d.checkFormats(seats[:at]); err != nil {
		return driver.Status{}, err
	}
	return e.settle(seats[:at+1], at < len(seats)-1), nil
}

// settle judges the claim, which is the last of these, notes what follows, and answers about it.
func (e *claim) settle(all []seat, behind bool) driver.Status {
	v := leased.Verdict{Granted: true} // nothing can come ahead of a claim any more that was granted
	if !e.IsGranted() {
		v = e.d.keys.judge(e.Name, all)
	}
	if me := all[len(all)-1].seat(); v.Granted && behind && !me.IsExclusive() {
		e.d.running.Go(e.mark)
	}
	return e.Note(leased.Reading{Verdict: v, Behind: behind})
}

// mark notes that the claim is granted, for one that waits behind it. If that fails, that one learns of it when it
// is renewed.
func (e *claim) mark() {
	e.mu.Lock()
	at, r := e.queue+"/"+e.node, e.record
	first := !e.record.Granted
	e.record.Granted, r.Granted = true, true
	e.mu.Unlock()
	if !first {
		return
	}
	ctx, cancel := context.WithTimeout(e.d.lifetime, e.s.time)
	defer cancel()
	_, _, err := e.s.multi(ctx, &zk.CheckVersionRequest{Path: at, Version: -1},
		&zk.SetDataRequest{Path: e.note, Data: encode(r), Version: -1})
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.record.Granted = false // the next look tries again
	}
}

// watchSelf watches the claim's own node, and reads what only the server knows of it.
func (e *claim) watchSelf(ctx context.Context) error {
	type watched struct {
		content
		events <-chan zk.Event
	}
	at := e.place()
	own, err := ask(ctx, e.s, func(c *zk.Conn) (watched, error) {
		data, stat, events, err := c.GetW(at)
		return watched{content{data, stat}, events}, err
	})
	switch {
	case isNoNode(err):
		e.rememberEnd()
		return driver.ErrGone
	case err != nil:
		return err
	}
	e.Answered(uint64(own.stat.Czxid))
	e.Revoke(string(own.data) == revokeWord)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.self = own.events
	return nil
}

// keepWatch watches the claim's node where no watch of it is left, and notes what happened to it.
func (e *claim) keepWatch(ctx context.Context) error {
	for {
		e.mu.Lock()
		self := e.self
		e.mu.Unlock()
		if self == nil {
			return e.watchSelf(ctx)
		}
		select {
		case event := <-self:
			if err := e.newsOfSelf(event); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// newsOfSelf notes what happened to the claim's node. Its watch has served, and is gone.
func (e *claim) newsOfSelf(event zk.Event) error {
	if event.Type == zk.EventNodeDeleted || e.s.isLost() {
		e.rememberEnd()
		return e.goneError()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.self = nil
	return nil
}
