package adapt

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Together does a batch for an engine that does operations of different locks in one step, as [driver.Driver] says.
// part prepares the operation at a place for that; nil where it has to go alone. send sends what was prepared, and
// tells of each by its place. All else goes to Batches.
//
// There is one part for each lock at most: claims that one step queues on a lock would have one token.
func Together[P any](
	ctx context.Context, b *Batches, batch []driver.Op, done func(int, driver.Result),
	part func(at int, op *driver.Op) *P, send func(parts []*P, tell func(at int, r driver.Result)),
) {
	parts, others := divide(batch, part)
	if len(parts) == 0 {
		b.Do(ctx, batch, done)
		return
	}
	var g driver.Group
	if len(others) > 0 {
		rest := make([]driver.Op, len(others))
		for k, i := range others {
			rest[k] = batch[i]
		}
		g.Go(func() { b.Do(ctx, rest, func(k int, r driver.Result) { done(others[k], r) }) })
	}
	defer g.Wait()
	send(parts, func(at int, r driver.Result) {
		b.events.Note(batch[at], r)
		done(at, r)
	})
}

// divide returns the parts of a batch, and where in it all other operations are.
func divide[P any](batch []driver.Op, part func(int, *driver.Op) *P) (parts []*P, others []int) {
	if len(batch) < 2 {
		return nil, nil
	}
	locks := make(map[string]bool, len(batch))
	for i := range batch {
		name := batch[i].Claim.Name
		var p *P
		if !locks[name] {
			p = part(i, &batch[i])
		}
		if p == nil {
			others = append(others, i)
			continue
		}
		locks[name] = true
		parts = append(parts, p)
	}
	return parts, others
}
