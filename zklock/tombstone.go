package zklock

import (
	"context"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// tombstones are the notes of claims that have ended, to be deleted when they have served, in the order in which
// they were added. Until then none goes before the requests that it bars: it is on the session of its claim, whose
// requests are refused after that, or on that of the client that barred the ID, which lives for its time from that
// request on. So no session need be extended first.
type tombstones struct {
	mu  sync.Mutex
	due []due
}

type due struct {
	note string
	when leased.Instant
}

func (t *tombstones) add(note string, ttl time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = append(t.due, due{note, leased.Now().Add(ttl + leased.TombstoneGrace)})
}

// sweepAtOnce bounds how much is deleted in one change.
const sweepAtOnce = 100

// take returns notes whose time has come, at most so many.
func (t *tombstones) take() (notes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.due) > 0 && len(notes) < sweepAtOnce && t.due[0].when <= leased.Now() {
		notes = append(notes, t.due[0].note)
		t.due = t.due[1:]
	}
	return notes
}

// putBack returns notes that could not be deleted.
func (t *tombstones) putBack(notes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	back := make([]due, 0, len(notes)+len(t.due))
	for _, note := range notes {
		back = append(back, due{note, leased.Now()})
	}
	t.due = append(back, t.due...)
}

// sweep deletes tombstones that have served. Those that it fails to delete are due again, and end with the session
// at the latest.
func (s *session) sweep() {
	ctx, cancel := context.WithTimeout(s.d.lifetime, s.time)
	defer cancel()
	for notes := s.tombstones.take(); len(notes) > 0; notes = s.tombstones.take() {
		if err := s.delete(ctx, notes...); err != nil {
			s.tombstones.putBack(notes)
			return
		}
		s.room.give(notes...)
	}
}

// delete deletes nodes in one change, or one by one when some are not there, which is no error.
func (s *session) delete(ctx context.Context, nodes ...string) error {
	ops := make([]any, len(nodes))
	for i, node := range nodes {
		ops[i] = &zk.DeleteRequest{Path: node, Version: -1}
	}
	_, _, err := s.multi(ctx, ops...)
	switch {
	case !isNoNode(err):
		return err
	case len(nodes) == 1:
		return nil
	}
	errs := make([]error, len(nodes))
	forEach(len(nodes), func(i int) { errs[i] = s.delete(ctx, nodes[i]) })
	return distinct(errs)
}
