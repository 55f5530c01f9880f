package quorum

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A heard is what a node has answered.
type heard[T any] struct {
	from  *node
	value T
	err   error
}

// askAll asks all nodes for what people want to see, each for no longer than that. It returns the answers of a
// majority at least, and of those besides that come within the time in which a node is expected to answer: a line is
// on one of them alone.
func askAll[T any](
	ctx context.Context, d *Driver, within time.Duration, ask func(context.Context, *node) (T, error),
) ([]heard[T], error) {
	if d.lifetime.Err() != nil {
		return nil, driver.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // nobody waits for the others
	answers := make(chan heard[T], len(d.nodes))
	for _, n := range d.nodes {
		d.spawn(func(context.Context) {
			v, err := identified(ctx, n, within, ask)
			answers <- heard[T]{n, v, err}
		})
	}
	return collect(ctx, d, answers)
}

func collect[T any](ctx context.Context, d *Driver, answers <-chan heard[T]) (got []heard[T], err error) {
	var from []*node
	var errs []error
	var sufficed time.Time // when a majority had answered
	var late <-chan time.Time
	enough := majority(len(d.nodes))
	for range d.nodes {
		select {
		case a := <-answers:
			if a.err != nil {
				errs = append(errs, a.err)
				continue
			}
			got, from = append(got, a), append(from, a.from)
		case <-late:
			return got, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-d.lifetime.Done():
			return nil, driver.ErrClosed
		}
		if engines(from) >= enough {
			sufficed = cmp.Or(sufficed, time.Now())
			late = time.After(time.Until(sufficed.Add(d.grace(from))))
		}
	}
	if engines(from) < enough {
		return nil, d.notEnough("too few of %d servers show their claims", append(errs, twins(from)...))
	}
	return got, nil
}

// grace is how long to wait for the nodes that have not answered: not long where all of these did not answer lately
// either.
func (d *Driver) grace(answered []*node) time.Duration {
	for _, n := range d.nodes {
		if !slices.Contains(answered, n) && !n.inDoubt() {
			return mostPatience
		}
	}
	return leastPatience
}

// froms are the nodes that gave these answers.
func froms[T any](answers []heard[T]) []*node {
	nodes := make([]*node, len(answers))
	for i, a := range answers {
		nodes[i] = a.from
	}
	return nodes
}
