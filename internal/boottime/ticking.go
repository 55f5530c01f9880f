package boottime

import (
	"sync"
	"time"
)

// Tick is how long after a suspension a ticking alarm may go off late.
const Tick = 100 * time.Millisecond

// A ticking alarm looks often, because the timers of Go stand still while the machine does.
type ticking struct {
	mu  sync.Mutex
	at  time.Time     // when to go off
	set chan struct{} // has room for the word that at has changed
}

func newTicking() *ticking { return &ticking{set: make(chan struct{}, 1)} }

func (a *ticking) Set(d time.Duration) {
	a.mu.Lock()
	a.at = time.Now().Add(d)
	a.mu.Unlock()
	select {
	case a.set <- struct{}{}:
	default: // whoever waits has not seen the last word yet
	}
}

func (a *ticking) Wait() {
	timer := time.NewTimer(Tick)
	defer timer.Stop()
	for d := a.pause(); d > 0; d = a.pause() {
		timer.Reset(d)
		select {
		case <-timer.C:
			return
		case <-a.set:
		}
	}
}

// pause is how long not to look.
func (a *ticking) pause() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() {
		return Tick
	}
	return min(time.Until(a.at), Tick)
}

func (a *ticking) Close() {}
