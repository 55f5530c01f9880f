package sqlite

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A client sweeps when it opens a database and once in sweepEvery operations. Each step is bounded, so that it holds
// nobody up for long.
const (
	sweepEvery = 64
	sweepMost  = 256  // rows of a kind that are removed
	sweepLooks = 1024 // tokens that are looked at
	sweepPeers = 64   // clients that are looked at
)

// A sweep removes what nobody will ask for: what is left of dead clients, claims that expired in queues that nobody
// uses, ends that were remembered for long enough, values that were removed, and tokens that the clock passed long
// ago.
type sweep struct {
	age     time.Duration // for which claims have been over
	keep    time.Duration // for which tokens are kept
	clients []string      // that are still to be looked at
	last    fence         // of those that were looked at; zero before the first, and after the last
	removed []driver.Leftover
}

// A fence is the last token of a lock.
type fence struct {
	token int64
	name  []byte
}

// sweepIsDue counts the operations of this client: each transaction is one, and doTogether has counted the others.
func (d *Driver) sweepIsDue() bool {
	d.writes++
	if d.writes < sweepEvery {
		return false
	}
	d.writes = 0
	return true
}

// sweep takes one step of a sweep. It also corrects what is noted of our boot, since the wall clock may have been
// set.
func (t *tx) sweep() error {
	if err := t.noteBegan(); err != nil {
		return err
	}
	s := sweep{keep: t.d.keep, clients: drawn(t.d.client.others()), last: t.d.swept}
	_, err := s.step(t)
	t.d.swept = s.last
	return err
}

// step removes some, and reports whether there may be more.
func (s *sweep) step(t *tx) (more bool, err error) {
	if err := s.dead(t); err != nil {
		return false, err
	}
	claims, err := t.endAll(expired, int64(t.now-s.age), sweepMost)
	if err != nil {
		return false, err
	}
	for _, c := range claims {
		s.note("expired claim", c.Name)
	}
	if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
		return false, err
	}
	if err := t.exec(sweepValues, sweepMost); err != nil {
		return false, err
	}
	err = s.fences(t)
	return len(s.clients) > 0 || len(claims) == sweepMost || s.last.token != 0, err
}

func (s *sweep) note(kind, name string) {
	s.removed = append(s.removed, driver.Leftover{Kind: kind, Name: name})
}

// dead ends the claims of clients that died and left a FIFO. That is removed after the commit: as long as claims
// refer to a client, its FIFO has to tell that it is dead. A client may have died with thousands of claims.
func (s *sweep) dead(t *tx) error {
	most := sweepMost
	for range min(sweepPeers, len(s.clients)) {
		id := s.clients[0]
		if !t.clientIsAlive(id) {
			ended, err := t.endAll(claimsOf, id, most)
			if most -= len(ended); err != nil || most == 0 {
				return err
			}
			t.departed = append(t.departed, id)
			s.note("file of a client that is gone", "")
		}
		s.clients = s.clients[1:]
	}
	return nil
}

// endAll ends the claims that a statement finds, and grants what that makes grantable.
func (t *tx) endAll(s statement, args ...any) (ended []row, err error) {
	if err := t.rows(s, args, func(r row) bool { ended = append(ended, r); return true }); err != nil {
		return nil, err
	}
	for _, r := range ended {
		if err := t.end(r, false); err != nil {
			return nil, err
		}
	}
	for i, r := range ended {
		if i > 0 && r.Name == ended[i-1].Name {
			continue
		}
		if _, err := t.settle(r.Name, nil); err != nil {
			return nil, err
		}
	}
	return ended, nil
}

// fences looks at old tokens, and removes those of locks that have no claims. It goes on from where the last step
// was because locks that are held for long keep their old tokens, and would be all that is ever looked at.
func (s *sweep) fences(t *tx) error {
	var next fence
	some := []any{s.last.token, s.last.name, time.Now().Add(-s.keep).UnixMicro(), sweepLooks}
	if _, err := t.get(lastOfFences, some, &next.token, &next.name); err != nil {
		return err
	}
	err := t.each(sweepFences, some, func(scan func(...any) error) (bool, error) {
		var name []byte
		err := scan(&name)
		s.note("last token", string(name))
		return true, err
	})
	s.last = next
	return err
}

// drawn returns as many clients as one step looks at, beginning with one that is drawn at random: files of other
// users may not be ours to remove, and must not be all that is ever looked at.
func drawn(clients []string) []string {
	if len(clients) <= sweepPeers {
		return clients
	}
	from := rand.N(len(clients))
	return slices.Concat(clients[from:], clients[:from])[:sweepPeers]
}
