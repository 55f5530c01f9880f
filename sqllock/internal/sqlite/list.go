package sqlite

import (
	"context"
	"iter"
	"math"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// queue reads the first claims on a lock that count, or all if most is 0.
func (t *tx) queue(name string, most int) (entries []driver.Entry) {
	t.settle(name, whole)
	t.rows("queue", []any{[]byte(name)}, func(r row) bool {
		if t.isAlive(r) {
			entries = append(entries, r.entry(t.now))
		}
		return most == 0 || len(entries) < most
	})
	return entries
}

// listPage is how many claims a transaction of List looks at.
const listPage = 1000

// List implements [driver.Lister], in pages, which it reads as they are asked for.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		p := page{name: []byte(prefix), token: math.MinInt64}
		driver.Pages(yield, func() ([]string, bool, error) {
			before := p
			err := d.transact(ctx, func(t *tx) { p = t.page(before, prefix) })
			return p.names, p.more, err
		})
	}
}

// A page is what one transaction of a list finds. Names come in the order of their bytes, so those that begin alike
// follow each other.
type page struct {
	names []string // of locks with claims that count, but for those of an earlier page
	last  string   // of all names: the claims of a lock may be on several pages
	name  []byte   // of the lock of the last claim on the page
	token int64    // of that claim
	more  bool     // claims may follow
}

// page reads the page that follows another one.
func (t *tx) page(before page, prefix string) (p page) {
	looked := 0
	p.last = before.last
	args := []any{before.name, before.token, listPage, int64(t.now)}
	t.each("page", args, func(scan func(...any)) bool {
		var client string
		var detached, lasts bool
		scan(&p.name, &p.token, &client, &detached, &lasts)
		name := string(p.name)
		if !strings.HasPrefix(name, prefix) {
			return false
		}
		if name != p.last && lasts && (detached || t.clientIsAlive(client)) {
			p.names, p.last = append(p.names, name), name
		}
		looked++
		p.more = looked == listPage
		return true
	})
	return p
}
