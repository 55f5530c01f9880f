package sqlite

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Sweeping happens in passing, when a database is opened and with every so many transactions of a client, and each time
// has bounds, so that it holds nobody up for long.
const (
	sweepEvery = 64
	sweepMost  = 256  // rows that are removed
	sweepLooks = 1024 // tokens that are looked at, though they may stay
	sweepDoors = 64   // clients that are looked at
)

// sweepIsDue counts the transactions of this client.
func (d *Driver) sweepIsDue() bool {
	d.writes++
	if d.client == nil || d.writes < sweepEvery {
		return false
	}
	d.writes = 0
	return true
}

// sweep removes what nobody will ask for: claims that died in queues that nobody uses, ends that were remembered for long
// enough, tokens that the clock has overtaken long ago, and files of dead clients.
func (t *tx) sweep() error {
	if err := t.sweepClaims(expired, int64(t.now), sweepMost); err != nil {
		return err
	}
	if err := t.sweepClients(someOf(t.d.client.others())); err != nil {
		return err
	}
	if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
		return err
	}
	_, err := t.sweepFences(&t.d.looked, time.Now().Add(-t.d.keep).UnixMicro())
	return err
}

// A fence is the last token of a lock.
type fence struct {
	token int64
	name  []byte
	used  bool // the lock has claims
}

// sweepFences looks at tokens less than one, from after the one that was looked at last, and removes those of locks that have
// no claims. At the end it begins anew the next time. Locks that are held for long are passed by like this, and keep it
// from nothing.
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

// sweepClaims ends the claims that a statement finds, and grants what that makes grantable.
func (t *tx) sweepClaims(s statement, args ...any) error {
	var dead []row
	if err := t.rows(s, args, func(r row) bool { dead = append(dead, r); return true }); err != nil {
		return err
	}
	for _, r := range dead {
		if err := t.end(r, false); err != nil {
			return err
		}
	}
	for i, r := range dead {
		if i > 0 && r.Name == dead[i-1].Name {
			continue
		}
		if _, err := t.settle(r.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// sweepClients ends the claims of those clients that died and left files, and then lets the files go.
func (t *tx) sweepClients(clients []string) error {
	for _, id := range clients {
		if t.clientLives(id) {
			continue
		}
		if err := t.sweepClaims(claimsOf, id); err != nil {
			return err
		}
		t.buried = append(t.buried, id)
	}
	return nil
}

// someOf returns as many clients as are looked at in one transaction, from one that is drawn: the files of other users may
// not be ours to remove.
func someOf(clients []string) []string {
	if len(clients) <= sweepDoors {
		return clients
	}
	from := rand.N(len(clients))
	return slices.Concat(clients[from:], clients[:from])[:sweepDoors]
}
