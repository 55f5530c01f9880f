package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Subscribe implements [driver.Driver]. A claim is followed until it is released, also once it is granted. Where
// replicas must confirm grants, a grant is told as "ask": whoever granted the claim did not wait for them.
func (d *native) Subscribe(tell func(driver.Event)) (stop func()) { return d.listener.subscribe(tell) }

// Shard implements [driver.Sharder]: the node of a cluster that has the lock, as far as is known.
func (d *native) Shard(name string) string {
	if !d.conn.Cluster() {
		return ""
	}
	k, err := d.keys.of(name)
	if err != nil {
		return ""
	}
	return nodeOf(d.conn, k.lock)
}

// tellChange has the next change of a queue told. told is called once the caller knows the result, whatever it is.
func (d *native) tellChange(ctx context.Context, name string) (told func(), err error) {
	none := func() {}
	k, err := d.keys.of(name)
	if err != nil {
		return none, err
	}
	if err := d.listener.ready(ctx, name); err != nil {
		return none, explain(err)
	}
	// The look-out comes before the script that has the server tell of changes: one may be published before the
	// script's answer is here. And it comes after the subscription, whose address the script takes.
	told = d.listener.lookOut(k.claims, name)
	lasts := strconv.FormatInt(watchFor.Milliseconds(), 10)
	_, err = d.scripts.watch.run(ctx, d.conn, k.all(), []string{d.listener.address(name), lasts})
	return told, err
}

// A lookOut tells those who subscribed when a queue changes. The server forgets it after some time, and then it tells
// them all the same.
type lookOut struct {
	lock    string
	asking  int  // operations without a result
	changed bool // since one of these began
	expiry  *time.Timer
}

// subscribe has tell called with all that happens.
func (in *inbox) subscribe(tell func(driver.Event)) (stop func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tells[&tell] = struct{}{}
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		delete(in.tells, &tell)
	}
}

// tell tells all who subscribed. mu is held.
func (in *inbox) tell(e driver.Event) {
	for tell := range in.tells {
		(*tell)(e)
	}
}

// lookOut begins to look out for changes of the queue with this key of claims. told is called with the result.
func (in *inbox) lookOut(key, lock string) (told func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	l := in.lookOuts[key]
	if l == nil {
		l = &lookOut{lock: lock}
		l.expiry = time.AfterFunc(watchFor, func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			if in.lookOuts[key] == l {
				in.tellChange(key)
			}
		})
		in.lookOuts[key] = l
	}
	l.asking++
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if l.asking--; l.changed {
			in.tell(driver.Event{Name: lock})
		}
		if l.asking == 0 && l.changed && in.lookOuts[key] == l {
			delete(in.lookOuts, key)
		}
	}
}

// tellChange tells that a queue has changed. Who has no result yet is told once more after that. mu is held.
func (in *inbox) tellChange(key string) {
	l := in.lookOuts[key]
	if l == nil {
		return
	}
	in.tell(driver.Event{Name: l.lock})
	l.expiry.Stop()
	if l.changed = true; l.asking == 0 {
		delete(in.lookOuts, key)
	}
}
