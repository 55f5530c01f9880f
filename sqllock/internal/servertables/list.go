package servertables

import (
	"bytes"
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// queuePage is how many claims a statement looks at that reads a queue, and headPage how many it looks at for the first
// few.
const (
	queuePage = 1000
	headPage  = 16
)

// queue reads the first claims on a lock, so many, or all of them where most is 0. Which claims are granted follows
// from those that live: one whose way is free since a claim ahead expired has not been told yet.
//
// A long queue is read in pages, each as it is at one instant, the later ones later. No claim is there twice, and none
// is missing that was there all the time. One that ends meanwhile may still be there, and those behind it then wait as
// they did before; one that joins the queue meanwhile may be missing.
func (d *Driver) queue(ctx context.Context, name string, most int) (queue []driver.Entry, err error) {
	if most == 0 {
		most = math.MaxInt
	}
	look := min(max(most, headPage), queuePage)
	for after, more := uint64(0), true; more && len(queue) < most; {
		page, err := d.part(ctx, name, after, look)
		if err != nil {
			return nil, err
		}
		if more = len(page) == look; more {
			after = page[len(page)-1].Token
		}
		queue = append(queue, slices.DeleteFunc(page, func(e driver.Entry) bool { return e.Left <= 0 })...)
	}
	queue = queue[:min(most, len(queue))]
	grant(queue)
	return queue, nil
}

// part reads so many claims at most after the one with this token, those that are over among them.
func (d *Driver) part(ctx context.Context, name string, after uint64, look int) ([]driver.Entry, error) {
	read := func(scan func(...any) error) (driver.Entry, error) { return readEntry(name, scan) }
	return run(ctx, d.requests, affinity{name: name}, func(ctx context.Context, l *lane) ([]driver.Entry, error) {
		return all(ctx, l.conn, "part", read, []byte(name), int64(after), int64(look))
	})
}

func readEntry(name string, scan func(...any) error) (driver.Entry, error) {
	e := driver.Entry{Claim: driver.Claim{Name: name, Queue: true}}
	var token, ttl, left, since int64
	var owner, value []byte
	err := scan(&e.ID, &token, &e.Weight, &e.Limit, &ttl, &left, &since, &owner, &value)
	e.Token, e.TTL, e.Left, e.Since = uint64(token), fromMicros(ttl), fromMicros(left), time.UnixMicro(since)
	e.Owner, e.Value = string(owner), string(value)
	return e, err
}

// grant marks the entries that the grant rule grants.
func grant(entries []driver.Entry) {
	var ahead []driver.Claim
	for i := range entries {
		ahead = append(ahead, entries[i].Claim)
		if entries[i].Granted = driver.Granted(ahead, entries[i].ID); !entries[i].Granted {
			return
		}
	}
}

// listPage is how many claims a statement of List looks at.
const listPage = 1000

// List implements [driver.Lister], in pages, which it reads as they are asked for.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if len(prefix) > maxName {
			return
		}
		from, end := []byte(prefix), endOf(prefix)
		driver.Pages(yield, func() ([]string, bool, error) {
			p, err := runFrom(ctx, d.bulk, from, func(ctx context.Context, conn *conn, from []byte) (namesPage, error) {
				return conn.page(ctx, from, end)
			})
			from = p.next
			return p.names, from != nil, err
		})
	}
}

// endOf is what is greater than all names that begin with prefix, and no greater than any other that follows them.
func endOf(prefix string) []byte {
	if end := dbms.End(prefix); end != "" {
		return []byte(end)
	}
	return bytes.Repeat([]byte{0xff}, maxName+1)
}

// A namesPage is one answer of the routine that lists locks, and where the next page begins, or nil.
type namesPage struct {
	names []string
	next  []byte
}

func (c *conn) page(ctx context.Context, from, end []byte) (p namesPage, err error) {
	err = c.rows(ctx, "page", []any{from, end, int64(listPage)}, func(scan func(...any) error) error {
		var kind int
		var name []byte
		err := scan(&kind, &name)
		switch {
		case kind == 1:
			p.names = append(p.names, string(name))
		case len(name) > 0:
			p.next = append(name, 0) // no name lies between
		}
		return err
	})
	return p, err
}
