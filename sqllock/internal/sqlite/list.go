package sqlite

import (
	"context"
	"iter"
	"math"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// queue reads the first claims on a lock that count, or all if most is 0.
func (t *tx) queue(name string, most int) (entries []driver.Entry, err error) {
	if _, err := t.settle(name, whole); err != nil {
		return nil, err
	}
	err = t.rows(queueOf, []any{[]byte(name)}, func(r row) bool {
		if t.isAlive(r) {
			entries = append(entries, r.entry(t.now))
		}
		return most == 0 || len(entries) < most
	})
	return entries, err
}

// listPage is how many claims a transaction of List looks at.
const listPage = 1000

// List implements [driver.Lister], in pages, which it reads as they are asked for.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var last string // of those that were yielded: the claims of a lock may be on several pages
		for from := firstPlace(prefix); from != nil; {
			var p page
			err := d.transact(ctx, func(t *tx) (err error) {
				p, err = t.page(*from, prefix)
				return err
			})
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range p.names {
				if name != last && !yield(name, nil) {
					return
				}
				last = name
			}
			from = p.next
		}
	}
}

// A place is that of a claim among those of all locks. Names come in the order of their bytes, so those that begin
// alike follow each other.
type place struct {
	name  []byte
	token int64
}

// firstPlace is before the claims of all locks whose names begin with prefix.
func firstPlace(prefix string) *place { return &place{name: []byte(prefix), token: math.MinInt64} }

// A page is what one transaction of a list finds: locks with claims that count, each once, and after which claim the
// next page begins, or nil.
type page struct {
	names []string
	next  *place
}

func (t *tx) page(from place, prefix string) (p page, err error) {
	looked := 0
	args := []any{from.name, from.token, listPage, int64(t.now)}
	err = t.each(pageOf, args, func(scan func(...any) error) (bool, error) {
		var at place
		var client string
		var detached, lasts bool
		if err := scan(&at.name, &at.token, &client, &detached, &lasts); err != nil {
			return false, err
		}
		name := string(at.name)
		if !strings.HasPrefix(name, prefix) {
			return false, nil
		}
		listed := len(p.names) > 0 && p.names[len(p.names)-1] == name
		if !listed && lasts && (detached || t.clientIsAlive(client)) {
			p.names = append(p.names, name)
		}
		if looked++; looked == listPage {
			p.next = &at
		}
		return true, nil
	})
	return p, err
}
