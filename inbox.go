package holdfast

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
)

// An inbox passes what the driver tells on to those whom it concerns: calls that wait for a claim, holders that want to
// learn at once of the end of theirs, and onlookers.
type inbox struct {
	mu     sync.Mutex
	claims map[string][]recipient     // by the claim's ID
	queues map[string][]chan struct{} // by the name of the lock
	early  [mostEarly]driver.Event    // the last events that may have come before their recipient
	came   atomic.Uint64              // so many of these have come; it changes under the lock
}

// mostEarly is how many events may come between a request and the recipient of what happens to its claim. Most often
// there is none.
const mostEarly = 64

// A mark is a moment in the life of an inbox: how many early events had come.
type mark uint64

// A recipient learns what happens to a claim. told does not block, and calls no driver.
type recipient interface{ told(driver.Event) }

func newInbox() *inbox {
	return &inbox{claims: make(map[string][]recipient), queues: make(map[string][]chan struct{})}
}

// mark returns what addSince has to know of a moment before a claim is requested. It costs a request next to nothing:
// most claims are granted at once, and need no recipient.
func (b *inbox) mark() mark { return mark(b.came.Load()) }

// add has a recipient told what happens to a claim from now on.
func (b *inbox) add(id string, r recipient) { b.addSince(b.mark(), id, r) }

// addSince has a recipient told what happens to a claim, and the last that has happened to it since a mark.
func (b *inbox) addSince(since mark, id string, r recipient) {
	b.mu.Lock()
	b.claims[id] = append(b.claims[id], r)
	e, missed := b.missed(since, id)
	b.mu.Unlock()
	if missed {
		r.told(e)
	}
}

// missed returns the last early event about a claim since a mark. If too many have come since then to know, it is that
// anything may have happened.
func (b *inbox) missed(since mark, id string) (e driver.Event, missed bool) {
	came := b.mark()
	if came-since > mostEarly {
		return driver.Event{}, true
	}
	for ; came > since; came-- {
		if e := b.early[(came-1)%mostEarly]; e.ID == id || e.ID == "" {
			return e, true
		}
	}
	return driver.Event{}, false
}

// remove ends what add began.
func (b *inbox) remove(id string, r recipient) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(b.claims[id], func(other recipient) bool { return other == r })
	if b.claims[id] = left; len(left) == 0 {
		delete(b.claims, id)
	}
}

// watch returns a channel that has an element once the queue of a lock may have changed, until stop is called.
func (b *inbox) watch(name string) (changed chan struct{}, stop func()) {
	changed = make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues[name] = append(b.queues[name], changed)
	return changed, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		left := slices.DeleteFunc(b.queues[name], func(other chan struct{}) bool { return other == changed })
		if b.queues[name] = left; len(left) == 0 {
			delete(b.queues, name)
		}
	}
}

// tell is what the driver calls.
func (b *inbox) tell(e driver.Event) {
	for _, r := range b.concerned(e) {
		r.told(e)
	}
}

// concerned returns the recipients of an event about a claim. Onlookers have been told.
func (b *inbox) concerned(e driver.Event) []recipient {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case e.ID != "":
		to := b.claims[e.ID]
		if len(to) == 0 {
			b.keep(e)
		}
		return slices.Clone(to)
	case e.Name != "":
		wake(b.queues[e.Name])
		return nil
	}
	b.keep(e)
	var all []recipient
	for _, rs := range b.claims {
		all = append(all, rs...)
	}
	for _, changed := range b.queues {
		wake(changed)
	}
	return all
}

// keep keeps an event for a recipient that is not there yet.
func (b *inbox) keep(e driver.Event) {
	b.early[b.mark()%mostEarly] = e
	b.came.Add(1)
}

// wake leaves an element in each channel.
func wake(wakeUps []chan struct{}) {
	for _, wakeUp := range wakeUps {
		select {
		case wakeUp <- struct{}{}:
		default: // it has one
		}
	}
}
