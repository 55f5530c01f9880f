package leased

import "github.com/holdfast-go/holdfast/driver"

// Kinds are the operations of an engine that leases by session.
var Kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpQueue, driver.OpBreak, driver.OpRevoke,
	driver.OpValue, driver.OpSetValue, driver.OpWatch)

// Ways are the ways in which an engine does the operations of a batch. Those that it does together, or renews, it
// answers by their places in the batch.
type Ways[P, R any] struct {
	// Part prepares an operation for a step that does operations of different locks; nil where it has to go alone.
	Part     func(at int, op *driver.Op) *P
	Together func(parts []*P, tell func(at int, r driver.Result))

	// Renewal prepares a request that only keeps a claim alive, see [driver.Op.Brief]; nil where that takes more.
	Renewal func(at int, op *driver.Op) *R
	Renew   func(renewals []*R, tell func(at int, r driver.Result))

	Alone func(op driver.Op) driver.Result
}

// Do implements [driver.Driver.Do]. All ways are gone at once.
func Do[P, R any](batch []driver.Op, done func(int, driver.Result), w Ways[P, R]) {
	if len(batch) == 1 && !isRenewal(&batch[0]) {
		done(0, w.Alone(batch[0]))
		return
	}
	parts, renewals, others := w.divide(batch)
	var g driver.Group
	for _, i := range others {
		g.Go(func() { done(i, w.Alone(batch[i])) })
	}
	if len(renewals) > 0 {
		g.Go(func() { w.Renew(renewals, done) })
	}
	if len(parts) > 0 {
		g.Go(func() { w.Together(parts, done) })
	}
	g.Wait()
}

func isRenewal(op *driver.Op) bool { return op.Kind == driver.OpRequest && op.Brief }

// divide returns the parts and the renewals of a batch, and where in it all other operations are. There is one part for
// each lock at most: claims that one step queues on a lock would have one token.
func (w *Ways[P, R]) divide(batch []driver.Op) (parts []*P, renewals []*R, others []int) {
	locks := make(map[string]bool)
	for i := range batch {
		op := &batch[i]
		if isRenewal(op) {
			if r := w.Renewal(i, op); r != nil {
				renewals = append(renewals, r)
				continue
			}
		} else if !locks[op.Claim.Name] {
			if p := w.Part(i, op); p != nil {
				locks[op.Claim.Name] = true
				parts = append(parts, p)
				continue
			}
		}
		others = append(others, i)
	}
	return parts, renewals, others
}
