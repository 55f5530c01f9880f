package memlock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A watch tells those who look on, without a claim, that a queue changed.
type watch struct {
	watchers int
	change   chan struct{} // closed at the next change; nil when nobody has asked since the last

	told map[*Driver]lookOut // clients that are told of the next change
}

// A lookOut is for the next change of a lock.
type lookOut struct {
	name  string
	until time.Time
}

// none reports whether nobody looks on.
func (w *watch) none() bool { return w.watchers == 0 && len(w.told) == 0 }

// forget drops look-outs that are over.
func (w *watch) forget(now time.Time) {
	for d, o := range w.told {
		if now.After(o.until) {
			delete(w.told, d)
		}
	}
}

func (w *watch) changed() {
	if w.change != nil {
		close(w.change)
		w.change = nil
	}
	for d, o := range w.told {
		delete(w.told, d)
		d.tell(driver.Event{Name: o.name})
	}
}

// tellNext has a client told of the next change.
func (w *watch) tellNext(d *Driver, name string, now time.Time) {
	if w.told == nil {
		w.told = make(map[*Driver]lookOut)
	}
	w.told[d] = lookOut{name, now.Add(driver.WatchTime)}
}

func (w *watch) next() <-chan struct{} {
	if w.change == nil {
		w.change = make(chan struct{})
	}
	return w.change
}

// Watch implements [driver.Watcher]. It also notices claims that expire.
func (d *Driver) Watch(ctx context.Context, name string) error {
	var change <-chan struct{}
	err := d.store.use(ctx, name, func(l *lock) error {
		l.watch.watchers++
		change = l.watch.next()
		return nil
	})
	if err != nil {
		return err
	}
	defer d.unwatch(name)
	return d.watch(ctx, name, change)
}

// watch blocks until change or the end of ctx. Whenever something may have expired it looks, which brings the change.
func (d *Driver) watch(ctx context.Context, name string, change <-chan struct{}) error {
	for {
		var quiet time.Duration
		err := d.store.use(ctx, name, func(l *lock) error {
			quiet = l.soonest.Sub(l.now)
			return nil
		})
		if err != nil {
			return err
		}
		alarm := time.NewTimer(quiet)
		select {
		case <-change:
			alarm.Stop()
			return nil
		case <-alarm.C:
		case <-ctx.Done():
			alarm.Stop()
			return ctx.Err()
		}
	}
}

// unwatch gives up what Watch counted, whatever became of its context.
func (d *Driver) unwatch(name string) {
	d.store.use(context.Background(), name, func(l *lock) error { // nothing in it fails
		l.watch.watchers--
		return nil
	})
}
