package leased

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A pool has the sessions that claims share, by their terms. There are several of a term when one is full.
type pool struct {
	mu    sync.Mutex
	slots map[time.Duration][]*Slot[Session]
}

// A tenancy is a claim's place in a session.
type tenancy struct {
	Session
	place string
	own   bool // nobody else is in the session: the claim was left alone
}

// session returns a place for a claim in a session that serves it. One that was left alone gets a session of its own.
func (t *task) session(c driver.Claim) (tn tenancy, err error) {
	if c.Detached {
		tn.own = true
		if !t.await(func() { tn.Session, err = t.d.store.Open(t.ctx, c.TTL, true) }) {
			err = errAbandoned
		}
		if err != nil {
			return tenancy{}, err
		}
		tn.place, _ = tn.Take(c)
		return tn, nil
	}
	for {
		tn, slot := t.d.pool.take(t.d, c)
		if slot == nil {
			return tn, nil
		}
		if !t.await(func() { _, err = slot.Await(t.ctx) }) {
			err = errAbandoned
		}
		if err != nil {
			return tenancy{}, err
		}
	}
}

// take takes a place, or returns the slot of a session that is about to have one.
func (p *pool) take(d *Engine, c driver.Claim) (tenancy, *Slot[Session]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	term := d.store.Term(c.TTL)
	slots := slices.DeleteFunc(p.slots[term], func(s *Slot[Session]) bool { return !s.IsUsable() })
	var coming *Slot[Session]
	for _, slot := range slots {
		s, there := slot.Lease()
		if !there {
			coming = slot
			continue
		}
		if place, ok := s.Take(c); ok {
			p.keep(term, slots)
			return tenancy{Session: s, place: place}, nil
		}
	}
	if coming == nil {
		coming = NewSlot[Session]()
		slots = append(slots, coming)
		d.running.Go(func() { coming.Fill(d.store.Open(d.lifetime, c.TTL, false)) })
	}
	p.keep(term, slots)
	return tenancy{}, coming
}

func (p *pool) keep(term time.Duration, slots []*Slot[Session]) {
	if p.slots == nil {
		p.slots = make(map[time.Duration][]*Slot[Session])
	}
	p.slots[term] = slots
}
