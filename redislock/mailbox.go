package redislock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A mailbox keeps what came last about one claim until Wait collects it. The mutex of its inbox guards it.
//
// It is not a [driver.Mailbox]: several who wait for one claim all go on with each message, and an end is not
// replaced by an older grant that comes late.
type mailbox struct {
	lock  string    // whose claim it is
	until time.Time // when the claim has long been dead

	// addressed says that the claim's record names the channel on which this client listens. Until it does, nothing
	// that happens to the claim arrives here.
	addressed bool
	follow    bool // it is told of also while it is granted

	latest driver.Status
	ended  bool
	ask    bool          // something may have been missed: only the server knows
	full   bool          // there is something that nobody has collected
	wake   chan struct{} // closed by what arrives next, if somebody waits for it

	listeners driver.Listeners // called with all that arrives
}

// A message is what a script told about one claim.
type message struct {
	status driver.Status
	ended  bool
	ask    bool
}

// put notes what arrived, and wakes whoever waits for it. What arrives later does not undo an end or a question: of
// several messages that nobody collected in between, the gravest counts.
func (b *mailbox) put(m message) {
	if m.ended || m.ask {
		b.ended, b.ask = b.ended || m.ended, b.ask || m.ask
	} else {
		b.latest = m.status
	}
	b.full = true
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
	b.listeners.Call()
}

// take empties the mailbox. Nothing in it, like a question, is the zero status: the caller asks the server.
func (b *mailbox) take() (driver.Status, error) {
	st, ended, ask := b.latest, b.ended, b.ask
	b.latest, b.ended, b.ask, b.full = driver.Status{}, false, false, false
	switch {
	case ended:
		return driver.Status{}, driver.ErrGone
	case ask:
		return driver.Status{}, nil
	}
	return st, nil
}

// waking returns the channel that is closed by what arrives next.
func (b *mailbox) waking() <-chan struct{} {
	if b.wake == nil {
		b.wake = make(chan struct{})
	}
	return b.wake
}
