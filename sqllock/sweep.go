package sqllock

import "time"

// Sweeping happens in passing, when a database is opened and with every so many transactions of a client, and each time
// has bounds, so that it holds nobody up for long.
const (
	sweepEvery = 64
	sweepMost  = 256
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
	if err := t.sweepClients(); err != nil {
		return err
	}
	if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
		return err
	}
	return t.exec(sweepFences, time.Now().Add(-t.d.keep).UnixMicro(), sweepMost)
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

// sweepClients ends the claims of clients that died and left files, and then lets the files go.
func (t *tx) sweepClients() error {
	for _, id := range t.d.client.others() {
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
