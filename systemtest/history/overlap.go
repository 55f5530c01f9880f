package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Overlap returns an error when more units were held at one moment than there are. A visit counts from when it was
// let in until it last saw itself inside; so what it finds is certain, whatever requests took.
func (h History) Overlap() error {
	type edge struct {
		at    time.Duration
		units int64
		visit Visit
	}
	var edges []edge
	for _, v := range h.Visits {
		if v.Outcome == Got && v.Seen > v.Return {
			edges = append(edges, edge{v.Return, v.Units, v}, edge{v.Seen, -v.Units, v})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at),
			cmp.Compare(a.units, b.units))
	})
	inside := make(map[uint64]Visit)
	var held int64
	for _, e := range edges {
		held += e.units
		if e.units < 0 {
			delete(inside, e.visit.Token)
			continue
		}
		if held > h.Limit {
			return fmt.Errorf("%v, beside %v", e.visit, inside)
		}
		inside[e.visit.Token] = e.visit
	}
	return nil
}
