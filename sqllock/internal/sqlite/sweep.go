package sqlite

import (
	"context"
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
func (t *tx) sweep() {
	t.noteBegan()
	s := sweep{keep: t.d.keep, clients: t.d.others(), last: t.d.swept}
	s.step(t)
	t.d.swept = s.last
}

// step removes some, and reports whether there may be more.
func (s *sweep) step(t *tx) (more bool) {
	s.dead(t)
	claims := t.endAll("expired", int64(t.now-s.age), sweepMost)
	for _, c := range claims {
		s.note("expired claim", c.Name)
	}
	t.exec("sweep_ends", int64(t.now), sweepMost)
	t.exec("sweep_values", sweepMost)
	s.fences(t)
	return len(s.clients) > 0 || len(claims) == sweepMost || s.last.token != 0
}

func (s *sweep) note(kind, name string) {
	s.removed = append(s.removed, driver.Leftover{Kind: kind, Name: name})
}

// dead ends the claims of clients that died and left a FIFO. That is removed after the commit: as long as claims
// refer to a client, its FIFO has to tell that it is dead. A client may have died with thousands of claims.
func (s *sweep) dead(t *tx) {
	most := sweepMost
	for range min(sweepPeers, len(s.clients)) {
		id := s.clients[0]
		if !t.clientIsAlive(id) {
			if most -= len(t.endAll("of_client", id, most)); most == 0 {
				return
			}
			t.departed = append(t.departed, id)
			s.note("file of a client that is gone", "")
		}
		s.clients = s.clients[1:]
	}
}

// endAll ends the claims that a statement finds, and grants what that makes grantable.
func (t *tx) endAll(s statement, args ...any) (ended []row) {
	t.rows(s, args, func(r row) bool { ended = append(ended, r); return true })
	for _, r := range ended {
		t.end(r, false)
	}
	for i, r := range ended {
		if i == 0 || r.Name != ended[i-1].Name {
			t.settle(r.Name, nil)
		}
	}
	return ended
}

// fences looks at old tokens, and removes those of locks that have no claims. It goes on from where the last step
// was because locks that are held for long keep their old tokens, and would be all that is ever looked at.
func (s *sweep) fences(t *tx) {
	var next fence
	some := []any{s.last.token, s.last.name, time.Now().Add(-s.keep).UnixMicro(), sweepLooks}
	t.get("last_of_fences", some, &next.token, &next.name)
	t.each("sweep_fences", some, func(scan func(...any)) bool {
		var name []byte
		scan(&name)
		s.note("last token", string(name))
		return true
	})
	s.last = next
}

// Reap implements [driver.Reaper]: it does at once and completely what sweeps do bit by bit.
func (d *Driver) Reap(ctx context.Context, age time.Duration) ([]driver.Leftover, error) {
	s := sweep{age: age, keep: age, clients: d.others()}
	for more := true; more; {
		before := s
		err := d.transact(ctx, func(t *tx) {
			s = before // also when the transaction is begun again
			more = s.step(t)
		})
		if err != nil {
			return before.removed, err
		}
	}
	return s.removed, nil
}

// others returns the clients that have a FIFO, except ours, beginning with one that is drawn at random: files of
// other users may not be ours to remove, and must not be all that is ever looked at.
func (d *Driver) others() []string {
	others := slices.DeleteFunc(d.database.folder.clients(), func(id string) bool { return id == d.client.id })
	from := rand.N(len(others) + 1)
	return slices.Concat(others[from:], others[:from])
}
