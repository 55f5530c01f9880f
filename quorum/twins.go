package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/causes"
)

// Two nodes may be one engine under two names: localhost and 127.0.0.1, a host and its alias, two proxies before one
// server, or a name that leads to another server than yesterday. An engine has one vote, whatever it is called by,
// because two majorities of names need not share an engine. The life in which a node answers tells which engine it
// is.

// identified lets a node be asked something, for as long as a node may take, whose answer is counted. It finds out
// meanwhile which engine gives that answer. Where the question failed, as on a connection that broke, it is asked once
// more: an answer without it may be that of another engine than the node was, and is none.
func identified[T any](
	ctx context.Context, n *node, within time.Duration, ask func(context.Context, *node) (T, error),
) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	known := make(chan error, 1)
	go func() { known <- n.identify(ctx) }()
	v, err := ask(ctx, n)
	unknown := <-known
	if err == nil && unknown != nil {
		err = n.identify(ctx)
	}
	return v, err
}

// identify notes which engine a node is. Where that is not to be learnt, which is no error, votes tell it.
func (n *node) identify(ctx context.Context) error {
	err := n.do(ctx, &driver.Op{Kind: driver.OpLife}, 0).Err
	if driver.IsAnswer(err) {
		return nil
	}
	return &causes.Error{Where: n.what, Err: fmt.Errorf("which server it is: %w", errors.Unwrap(err))}
}

// engines is how many engines the nodes are, as far as that is known.
func engines(nodes []*node) int { return len(nodes) - len(twins(nodes)) }

// twins returns what to tell of each node that is the same engine as one before it.
func twins(nodes []*node) (found []error) {
	for i, n := range nodes {
		life := n.lives().life
		same := slices.IndexFunc(nodes[:i], func(m *node) bool { return life != "" && m.lives().life == life })
		if same >= 0 {
			found = append(found, oneServer(nodes[same], n))
		}
	}
	return found
}

func oneServer(a, b *node) error {
	return fmt.Errorf("%s and %s are one server, which has one vote", a.what, b.what)
}

// refuseTwins refuses nodes of which several are one engine.
func refuseTwins(nodes []*node) error {
	if found := twins(nodes); len(found) > 0 {
		return twinsError{fmt.Errorf("%w; name each server once, and at least %d independent ones", found[0], fewest)}
	}
	return nil
}

// A twinsError matches [errors.ErrUnsupported]: of these servers no quorum can be made, whenever it is tried.
type twinsError struct{ error }

func (e twinsError) Unwrap() error        { return e.error }
func (e twinsError) Is(target error) bool { return target == errors.ErrUnsupported }

// voted returns a node before i that voted as the same engine, and whose vote meets the condition, or nil.
func (r *round) voted(i int, condition func(vote) bool) (same *node) {
	for j, v := range r.votes[:i] {
		if v.answer == granted && r.lives[j] != "" && r.lives[j] == r.lives[i] && condition(v) {
			return r.d.nodes[j]
		}
	}
	return nil
}

// isCounted reports whether the engine that voted as node i has its vote already.
func (r *round) isCounted(i int) bool {
	return r.voted(i, func(v vote) bool { return v.counts }) != nil
}

// twins returns what to tell of nodes that voted as the same engine.
func (r *round) twins() (found []error) {
	for i, v := range r.votes {
		if same := r.voted(i, func(vote) bool { return true }); v.answer == granted && same != nil {
			found = append(found, fmt.Errorf("%w: %w", oneServer(same, r.d.nodes[i]), driver.ErrRefused))
		}
	}
	return found
}
