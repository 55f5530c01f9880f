package holdfast

import (
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// An inbox passes what the driver tells on to those whom it concerns: calls that wait for a claim, holders that want to
// learn at once of the end of theirs, and onlookers.
type inbox struct {
	mu     sync.Mutex
	claims map[string][]recipient     // by the claim's ID; none while the claim is requested for the first time
	early  map[string]driver.Event    // the last about a claim that is requested for the first time
	queues map[string][]chan struct{} // by the name of the lock
}

// A recipient learns what happens to a claim. told does not block, and calls no driver.
type recipient interface{ told(driver.Event) }

func newInbox() *inbox {
	return &inbox{
		claims: make(map[string][]recipient),
		early:  make(map[string]driver.Event),
		queues: make(map[string][]chan struct{}),
	}
}

// expect has the inbox keep what comes about a claim, from before it is requested until add or forget.
func (b *inbox) expect(id string) {
	b.mu.Lock()
	b.claims[id] = nil
	b.mu.Unlock()
}

// forget ends what expect began.
func (b *inbox) forget(id string) {
	b.mu.Lock()
	delete(b.claims, id)
	if len(b.early) > 0 {
		delete(b.early, id)
	}
	b.mu.Unlock()
}

// add has a recipient told what happens to a claim, and what has happened since it is expected.
func (b *inbox) add(id string, r recipient) {
	b.mu.Lock()
	b.claims[id] = append(b.claims[id], r)
	e, missed := b.early[id]
	delete(b.early, id)
	b.mu.Unlock()
	if missed {
		r.told(e)
	}
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
		b.keep(e.ID, e)
		return slices.Clone(b.claims[e.ID])
	case e.Name != "":
		wake(b.queues[e.Name])
		return nil
	}
	var all []recipient
	for id, rs := range b.claims {
		b.keep(id, e)
		all = append(all, rs...)
	}
	for _, changed := range b.queues {
		wake(changed)
	}
	return all
}

// keep keeps an event about a claim that is requested for the first time.
func (b *inbox) keep(id string, e driver.Event) {
	if rs, expected := b.claims[id]; expected && len(rs) == 0 {
		b.early[id] = e
	}
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
