package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchers are the clients that are told of the next change of a queue, and until when.
type watchers map[*Driver]time.Time

// forget drops those that have looked on for long enough.
func (w watchers) forget(now time.Time) {
	for d, until := range w {
		if now.After(until) {
			delete(w, d)
		}
	}
}

// changed tells the watchers that the queue of a lock has changed.
func (w watchers) changed(name string) {
	for d := range w {
		delete(w, d)
		d.tell(driver.Event{Name: name})
	}
}

// watch has a client told of the next change.
func (l *lock) watch(d *Driver) {
	if l.watchers == nil {
		l.watchers = make(watchers)
	}
	l.watchers[d] = l.now.Add(driver.WatchTime)
}
