package classic

import (
	"errors"
	"sync"
)

// ErrEmpty says that something was taken from an empty queue.
var ErrEmpty = errors.New("woken, and the queue is empty")

// A Mailbox has letters that readers wait for with a condition variable.
type Mailbox struct {
	mu      sync.Mutex
	arrived *sync.Cond
	letters int
	waiting int
}

// NewMailbox returns an empty one.
func NewMailbox() *Mailbox {
	m := new(Mailbox)
	m.arrived = sync.NewCond(&m.mu)
	return m
}

// TakeIf waits once, as "if (empty) wait();" does. It assumes that whoever is woken finds a letter. It breaks when a
// wake-up was for another, was spurious, or when somebody else was faster.
func (m *Mailbox) TakeIf() error { return m.take(false) }

// TakeWhile waits until there is a letter, whatever woke it. This is the right way.
func (m *Mailbox) TakeWhile() error { return m.take(true) }

func (m *Mailbox) take(again bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
	for waits := 0; m.letters == 0 && (again || waits == 0); waits++ {
		m.arrived.Wait()
	}
	m.waiting--
	if m.letters == 0 {
		return ErrEmpty
	}
	m.letters--
	return nil
}

// Put puts a letter in, and wakes a reader.
func (m *Mailbox) Put() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.letters++
	m.arrived.Signal()
}

// WakeForNothing wakes all readers, as some systems do of themselves now and then.
func (m *Mailbox) WakeForNothing() { m.arrived.Broadcast() }

// Waiting returns how many readers wait.
func (m *Mailbox) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting
}
