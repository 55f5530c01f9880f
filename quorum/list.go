package quorum

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// listFor bounds how long one node may take to list its locks.
const listFor = time.Minute

// List implements [driver.Lister]: it yields the locks that a majority lists, which are those that are held, and those
// that it may list with the nodes that did not answer: of these Queue says what is not known.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lists, err := askAll(ctx, d, listFor, func(ctx context.Context, n *node) ([]string, error) {
			return use(ctx, n, func(nd driver.Driver) ([]string, error) { return namesOn(ctx, nd, prefix) })
		})
		if err != nil {
			yield("", err)
			return
		}
		silent := len(d.nodes) - len(lists)
		for name, nodes := range listed(lists) {
			if engines(nodes)+silent >= majority(len(d.nodes)) && !yield(name, nil) {
				return
			}
		}
	}
}

// namesOn returns the locks on a node.
func namesOn(ctx context.Context, nd driver.Driver, prefix string) (names []string, err error) {
	for onNode, err := range driver.List(ctx, nd, nodeName(prefix)) {
		if err != nil {
			return nil, err
		}
		if name, ok := nameOf(onNode); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// listed tells which nodes list each name.
func listed(lists []heard[[]string]) map[string][]*node {
	by := make(map[string][]*node)
	for _, l := range lists {
		for _, name := range l.value {
			by[name] = append(by[name], l.from)
		}
	}
	return by
}

// nameOf is the name of the lock that has this one on the nodes; false for those of our own.
func nameOf(onNode string) (name string, ok bool) {
	if !strings.HasPrefix(onNode, reserved) {
		return onNode, true
	}
	name = strings.TrimPrefix(onNode, reserved)
	return name, strings.HasPrefix(name, reserved)
}
