package sqlite

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/adapt"
)

// A notifier keeps a subscription for each claim of this client about which there may be news.
type notifier struct {
	mu            sync.Mutex
	subscriptions map[string]*subscription
	sweepAt       int // how many subscriptions there may be before those of dead claims are thrown away
}

// A subscription is for a claim that waits, or whose Wait is going on, or that was revoked. A granted claim that nobody
// asks about has none. It only says when to look: the news themselves are read from the database.
type subscription struct {
	wake    adapt.Mailbox[struct{}] // has word when there may be news
	told    driver.Status           // what the caller knows
	waiters int
	until   time.Time // when the claim has long been dead

	listeners adapt.Listeners // called when there may be news
}

const (
	firstSweep       = 64
	subscriptionTTLs = 2 // how many TTLs after its last request a claim is dead
)

// answered notes what the caller was told about a claim.
func (n *notifier) answered(c driver.Claim, st driver.Status, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch s := n.subscriptions[c.ID]; {
	case errors.Is(err, driver.ErrGone):
		n.remove(c.ID)
	case err != nil || st == driver.Status{}:
	case s != nil:
		s.told, s.until = st, time.Now().Add(subscriptionTTLs*c.TTL)
		n.tidy(c.ID, s)
	case !st.Granted:
		n.add(c, st)
	}
}

// enter begins a Wait. A claim without a subscription was granted by the answer to its request.
func (n *notifier) enter(c driver.Claim) *subscription {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.subscriptions[c.ID]
	if s == nil {
		s = n.add(c, driver.Status{Granted: true})
	}
	s.waiters++
	return s
}

// leave ends a Wait that told its caller st, or returned an error.
func (n *notifier) leave(c driver.Claim, s *subscription, st driver.Status, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.waiters--
	switch {
	case errors.Is(err, driver.ErrGone):
		n.remove(c.ID)
	case err == nil:
		s.told = st
	}
	n.tidy(c.ID, s)
}

// isNews reports whether the caller does not know yet.
func (n *notifier) isNews(s *subscription, st driver.Status) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return st.Granted && !s.told.Granted || st.Revoked && !s.told.Revoked
}

// wake lets those look who wait for news about a claim.
func (n *notifier) wake(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.subscriptions[id]; s != nil {
		s.wake.Put(struct{}{})
		s.listeners.Call()
	}
}

// forget drops a claim that has ended, and wakes those who wait.
func (n *notifier) forget(id string) {
	n.wake(id)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.remove(id)
}

func (n *notifier) remove(id string) {
	if s := n.subscriptions[id]; s != nil && s.waiters == 0 {
		delete(n.subscriptions, id)
	}
}

// tidy drops a subscription for which no more news are expected.
func (n *notifier) tidy(id string, s *subscription) {
	if s.told.Granted && !s.told.Revoked && n.subscriptions[id] == s {
		n.remove(id)
	}
}

// add makes a subscription. Those of claims that were never given back are swept each time their number has doubled.
func (n *notifier) add(c driver.Claim, told driver.Status) *subscription {
	if n.subscriptions == nil {
		n.subscriptions, n.sweepAt = make(map[string]*subscription), firstSweep
	}
	s := &subscription{wake: adapt.NewMailbox[struct{}](), told: told, until: time.Now().Add(subscriptionTTLs * c.TTL)}
	n.subscriptions[c.ID] = s
	if len(n.subscriptions) > n.sweepAt {
		n.sweep(time.Now())
	}
	return s
}

func (n *notifier) sweep(now time.Time) {
	for id, s := range n.subscriptions {
		if s.until.Before(now) {
			n.remove(id)
		}
	}
	n.sweepAt = max(firstSweep, 2*len(n.subscriptions))
}
