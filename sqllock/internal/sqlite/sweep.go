package sqlite

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A client sweeps when it opens a database and once in sweepEvery operations. Each sweep is bounded, so that
// it holds nobody up for long.
const (
	sweepEvery = 64
	sweepMost  = 256  // rows that are removed
	sweepLooks = 1024 // tokens that are looked at, though they may stay
	sweepPeers = 64   // clients that are looked at
)

// sweepIsDue counts the operations of this client: each transaction is one, and transact has counted the others.
func (d *Driver) sweepIsDue() bool {
	d.writes++
	if d.client == nil || d.writes < sweepEvery {
		return false
	}
	d.writes = 0
	return true
}

// sweep removes what nobody will ask for: dead claims in queues that nobody uses, ends that were remembered for long
// enough, tokens that the clock passed long ago, and files of dead clients. And it corrects what is noted of our boot,
// since the wall clock may have been set.
func (t *tx) sweep() error {
	if err := t.noteBegan(); err != nil {
		return err
	}
	if _, err := t.sweepClaims(expired, int64(t.now), sweepMost); err != nil {
		return err
	}
	if _, err := t.sweepClients(drawn(t.d.client.others())); err != nil {
		return err
	}
	if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
		return err
	}
	if err := t.exec(sweepValues, sweepMost); err != nil {
		return err
	}
	_, err := t.sweepFences(&t.d.swept, time.Now().Add(-t.d.keep).UnixMicro())
	return err
}

// A fence is the last token of a lock.
type fence struct {
	token int64
	name  []byte
	used  bool // the lock has claims
}

// sweepFences looks at tokens below least, beginning after the one that it looked at last, and removes those of locks
// that have no claims. When it has reached the end, the next sweep begins anew. It goes on from where it was because
// locks that are held for long keep their old tokens, and would be all that it ever looked at.
func (t *tx) sweepFences(last *fence, least int64) (removed []string, err error) {
	found, err := t.fencesAfter(*last, least)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		*last = f
		if f.used {
			continue
		}
		if err := t.exec(forgetFence, f.name); err != nil {
			return nil, err
		}
		if removed = append(removed, string(f.name)); len(removed) == sweepMost {
			return removed, nil
		}
	}
	if len(found) < sweepLooks {
		*last = fence{}
	}
	return removed, nil
}

func (t *tx) fencesAfter(last fence, least int64) (found []fence, err error) {
	args := []any{last.token, last.name, least, sweepLooks}
	err = t.each(sweepFences, args, func(scan func(...any) error) (bool, error) {
		var f fence
		err := scan(&f.name, &f.token, &f.used)
		found = append(found, f)
		return true, err
	})
	return found, err
}

// sweepClaims ends the claims that a statement finds, and grants what that makes grantable. It returns how many these
// were.
func (t *tx) sweepClaims(s statement, args ...any) (ended int, err error) {
	var dead []row
	if err := t.rows(s, args, func(r row) bool { dead = append(dead, r); return true }); err != nil {
		return 0, err
	}
	for _, r := range dead {
		if err := t.end(r, false); err != nil {
			return 0, err
		}
	}
	for i, r := range dead {
		if i > 0 && r.Name == dead[i-1].Name {
			continue
		}
		if _, err := t.settle(r.Name, nil); err != nil {
			return 0, err
		}
	}
	return len(dead), nil
}

// sweepClients ends the claims of those clients that died and left files. The files are removed after the commit: as
// long as claims refer to a client, its files have to tell that it is dead. more is true when claims may be left: a
// client may have died with thousands.
func (t *tx) sweepClients(clients []string) (more bool, err error) {
	most := sweepMost
	for _, id := range clients {
		if t.clientIsAlive(id) {
			continue
		}
		ended, err := t.sweepClaims(claimsOf, id, most)
		if err != nil || ended == most {
			return true, err
		}
		most -= ended
		t.departed = append(t.departed, id)
	}
	return false, nil
}

// drawn returns as many clients as one transaction looks at, beginning with one that is drawn at random: files of
// other users may not be ours to remove, and must not be all that is ever looked at.
func drawn(clients []string) []string {
	if len(clients) <= sweepPeers {
		return clients
	}
	from := rand.N(len(clients))
	return slices.Concat(clients[from:], clients[:from])[:sweepPeers]
}
