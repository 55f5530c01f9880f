package servertables

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A following is the claims of a client of which somebody wants to hear: those that wait, and held ones. For the oldest
// claim on a lock that is waited for, a sleeper waits in the server: see sleep. The others are looked at: see look.
type following struct {
	mu         sync.Mutex
	waiting    claims
	held       claims
	sleepers   int
	noSleepers time.Time      // before that there are no more, because one had no connection
	looks      bool           // whether look runs
	hurry      chan struct{}  // has something when it should look soon
	ended      sync.WaitGroup // whatever runs on behalf of the claims
}

func newFollowing() following {
	return following{waiting: make(claims), held: make(claims), hurry: make(chan struct{}, 1)}
}

// Claims are lists of claims by the names of their locks, the oldest first.
type claims map[string][]*followed

// A followed claim is one of a following.
type followed struct {
	claim driver.Claim // with its token
	held  bool
	tell  func(driver.Status, error) // is called with the following locked, and of a claim that waits once

	// Guarded by the following.
	revoked  bool      // it is held, and its holder was told so
	next     bool      // it waits for holders alone
	attended time.Time // since when it has a sleeper, or zero
	asleep   bool      // it has one, which has a connection
}

// add begins to follow a claim.
func (f *following) add(p *followed) {
	all := f.all(p.held)
	list := all[p.claim.Name]
	at, _ := slices.BinarySearchFunc(list, p.claim.Token, func(o *followed, token uint64) int {
		return cmp.Compare(o.claim.Token, token)
	})
	all[p.claim.Name] = slices.Insert(list, at, p)
}

// remove ends following a claim, and reports whether it was followed.
func (f *following) remove(p *followed) bool {
	all := f.all(p.held)
	list := all[p.claim.Name]
	at := slices.Index(list, p)
	if at < 0 {
		return false
	}
	if list = slices.Delete(list, at, at+1); len(list) > 0 {
		all[p.claim.Name] = list
	} else {
		delete(all, p.claim.Name)
	}
	if !p.held && (len(list) > 0 || !p.asleep) {
		f.lookSoon() // the next one has no sleeper, and others may have news, too
	}
	return true
}

// lookSoon has claims looked at soon.
func (f *following) lookSoon() {
	select {
	case f.hurry <- struct{}{}:
	default: // it has something
	}
}

func (f *following) all(held bool) claims {
	if held {
		return f.held
	}
	return f.waiting
}

// leave ends following a claim of which nobody wants to hear any more.
func (f *following) leave(p *followed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(p)
}

// awaits reports whether claims of this client wait for a lock.
func (f *following) awaits(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting[name]) > 0
}

// due is the Retry of a claim that nothing blocks any more: it is granted when somebody asks for it.
const due = time.Microsecond

// learn tells what the server has answered about a claim. A claim that waits is left with that: it has ended or was
// granted, or somebody is to ask for it.
func (f *following) learn(p *followed, a answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.next = a.status.Retry > due
	switch {
	case a.outcome == isGone:
		f.tellLast(p, driver.Status{}, driver.ErrGone)
	case p.held && a.status.Revoked && !p.revoked:
		p.revoked = true
		p.tell(a.status, nil)
	case p.held:
	case a.outcome == askAgain, a.status.Retry == due:
		f.tellLast(p, driver.Status{}, nil)
	case a.status.Granted:
		f.tellLast(p, a.status, nil)
	}
}

// tellLast tells what is the last to be told of a claim.
func (f *following) tellLast(p *followed, st driver.Status, err error) {
	if f.remove(p) {
		p.tell(st, err)
	}
}

// forget notes that a claim was released, under its token or 0. Whoever waits for it here, or holds it together with
// who has released it, is told that it is gone.
func (f *following) forget(c driver.Claim) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range slices.Concat(f.waiting[c.Name], f.held[c.Name]) {
		if p.claim.ID == c.ID && (c.Token == 0 || c.Token == p.claim.Token) {
			f.tellLast(p, driver.Status{}, driver.ErrGone)
		}
	}
}
