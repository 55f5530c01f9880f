package quorum

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A view is what one node has about a lock.
type view struct {
	granted []driver.Entry // what has the lock there, if anything
	line    []driver.Entry // who stands in line there
}

// queue returns the claim that has the lock on a majority, and then the claims that stand in line on any node, in the
// order of their arrival there. A waiting claim that has no place yet is not seen. It is an error if those nodes that
// did not answer may make a majority with those that show a claim.
func (d *Driver) queue(ctx context.Context, name string) ([]driver.Entry, error) {
	views, err := askAll(ctx, d, mostPatience, func(ctx context.Context, n *node) (view, error) {
		return look(ctx, n, name)
	})
	if err != nil {
		return nil, err
	}
	queue, err := d.holders(name, views)
	if err != nil {
		return nil, err
	}
	return append(queue, waiters(name, queue, views)...), nil
}

// look reads what a node has about a lock.
func look(ctx context.Context, n *node, name string) (v view, err error) {
	if v.granted, err = queueOf(nodeName(name))(ctx, n); err != nil {
		return v, err
	}
	v.granted = slices.DeleteFunc(v.granted, func(e driver.Entry) bool { return !e.Granted })
	v.line, err = queueOf(turnLock(name))(ctx, n)
	return v, err
}

// queueOf asks a node for the claims on a lock.
func queueOf(name string) func(context.Context, *node) ([]driver.Entry, error) {
	return func(ctx context.Context, n *node) ([]driver.Entry, error) {
		r := n.do(ctx, &driver.Op{Kind: driver.OpQueue, Claim: on(name)}, 0)
		return r.Queue, r.Err
	}
}

// holders returns the claims that a majority has granted: one, or none.
func (d *Driver) holders(name string, views []heard[view]) (found []driver.Entry, err error) {
	seen := make(map[string][]heard[driver.Entry]) // by the ID on the nodes
	for _, v := range views {
		for _, e := range v.value.granted {
			seen[e.ID] = append(seen[e.ID], heard[driver.Entry]{from: v.from, value: e})
		}
	}
	silent := len(d.nodes) - len(views)
	for id, entries := range seen {
		switch have := engines(froms(entries)); {
		case have >= majority(len(d.nodes)):
			return []driver.Entry{d.merge(name, id, entries)}, nil
		case have+silent >= majority(len(d.nodes)):
			err = fmt.Errorf("%s: %d of %d servers show a claim, and %d did not answer: it may have the lock or not",
				d.traits.Backend, have, len(d.nodes), silent)
		}
	}
	return nil, err
}

// merge makes one entry of what nodes show of a claim. It lives until no majority has it any more.
func (d *Driver) merge(name, id string, entries []heard[driver.Entry]) driver.Entry {
	e := entries[0].value
	e.Name, e.ID = name, baseOf(id)
	tokens, lefts := make(map[uint64]int), make([]time.Duration, len(entries))
	for i, o := range entries {
		tokens[o.value.Token]++
		lefts[i] = o.value.Left
		if o.value.Since.Before(e.Since) {
			e.Since = o.value.Since
		}
	}
	for token, n := range tokens {
		if n > tokens[e.Token] || n == tokens[e.Token] && token < e.Token { // a node that was late chose a greater one
			e.Token = token
		}
	}
	slices.SortFunc(lefts, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	e.Left = lefts[min(majority(len(d.nodes)), len(lefts))-1]
	return e
}

// waiters returns who stands in line. Whoever has the lock keeps its place there, and does not wait.
func waiters(name string, holders []driver.Entry, views []heard[view]) (waiting []driver.Entry) {
	known := make(map[string]bool)
	for _, h := range holders {
		known[h.ID] = true
	}
	for _, v := range views {
		for _, e := range v.value.line {
			e.Name, e.ID, e.Token, e.Granted = name, baseOf(e.ID), 0, false
			if !known[e.ID] {
				waiting = append(waiting, e)
			}
			known[e.ID] = true
		}
	}
	slices.SortStableFunc(waiting, func(a, b driver.Entry) int { return a.Since.Compare(b.Since) })
	return waiting
}

// baseOf is the ID of the claim that has this ID on the nodes, in a round or in line. IDs of the core never end like
// those of later rounds, nor like those of places.
func baseOf(onNode string) string {
	cut := strings.LastIndexByte(onNode, '-')
	if cut < 1 {
		return onNode
	}
	if base := onNode[:cut]; isOf(base, onNode) {
		return base
	}
	return onNode
}
