package shedlock

import (
	"context"
	"database/sql"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// theirs begins what stands for the ID of a claim of another program, which has none. The rest is its locked_at.
const theirs = "shedlock-"

// A holder is what ShedLock's table says about a lock that is taken.
type holder struct {
	name  string
	by    string
	since int64 // in milliseconds since 1970
	left  time.Duration
}

// queue returns the claims on a lock: the holder, then those of ours that wait, in the order in which they came. They
// need not be granted the lock in that order.
func (d *Driver) queue(ctx context.Context, name string) (queue []driver.Entry, err error) {
	if err := d.refuse(name); err != nil {
		return nil, err
	}
	v := values{claim: driver.Claim{Name: name}}
	err = d.patiently(ctx, func(conn conn) error {
		var who *holder
		err := conn.Each(ctx, d.statement(readHolder, v), func(rows *sql.Rows) error {
			var micros int64
			who = &holder{}
			err := rows.Scan(&who.name, &who.by, &who.since, &micros)
			who.left = time.Duration(micros) * time.Microsecond
			return err
		})
		if err != nil {
			return err
		}
		ours, err := conn.claims(ctx, v)
		queue = arrange(who, ours, name)
		return err
	})
	return queue, err
}

// claims are those of our claims that wait, or have had the lock at last.
func (c conn) claims(ctx context.Context, v values) (ours []driver.Entry, err error) {
	err = c.Each(ctx, c.driver.statement(readWaiting, v), func(rows *sql.Rows) error {
		e := driver.Entry{Claim: driver.Claim{Name: v.claim.Name, Weight: 1, Limit: 1}}
		var waits bool
		var since, left int64
		err := rows.Scan(&e.ID, &waits, &e.Token, &e.Owner, &e.Value, &since, &left)
		e.Granted = !waits
		e.Since, e.Left = time.UnixMicro(since), time.Duration(left)*time.Microsecond
		ours = append(ours, e)
		return err
	})
	return ours, err
}

// arrange puts the holder before those who wait, and leaves out those that have lost the lock.
func arrange(who *holder, ours []driver.Entry, name string) (queue []driver.Entry) {
	var holding string
	if who != nil && who.name == name {
		first := who.entry(name)
		holding = first.ID
		if at := slices.IndexFunc(ours, func(e driver.Entry) bool { return e.ID == holding }); at >= 0 {
			left := first.Left
			first = ours[at]
			first.Granted, first.Left = true, left
			first.Token = uint64(who.since)
		}
		queue = append(queue, first)
	}
	for _, e := range ours {
		if !e.Granted && e.ID != holding {
			queue = append(queue, e)
		}
	}
	return queue
}

// entry is the holder as ShedLock's table alone shows it.
func (h *holder) entry(name string) driver.Entry {
	e := driver.Entry{
		Claim: driver.Claim{Name: name, Weight: 1, Limit: 1, Owner: h.by, Token: uint64(max(h.since, 0))},
		Since: time.UnixMilli(h.since), Granted: true, Left: max(h.left-unsaid, 1),
	}
	id, isOurs := claimIn(h.by)
	if !isOurs {
		id = theirs + strconv.FormatInt(h.since, 10)
	} else {
		e.Owner = strings.TrimPrefix(h.by, mark(id))
	}
	e.ID = id
	return e
}

// listPage is how many names a statement of List returns.
const listPage = 1000

// List implements [driver.Lister]. It remembers the names of the locks that claims of ours wait for; those that are
// taken come in pages, which it reads as they are asked for.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		waited, err := d.waited(ctx, prefix)
		if err != nil {
			yield("", err)
			return
		}
		for name := range waited {
			if !yield(name, nil) {
				return
			}
		}
		for name, err := range d.taken(ctx, prefix) {
			if !waited[name] && !yield(name, err) {
				return
			}
		}
	}
}

// taken yields the names of the locks that are taken, each once: their column has them as its primary key.
func (d *Driver) taken(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		v := values{begin: prefix}
		for more := true; more; {
			var page []string
			err := d.patiently(ctx, func(conn conn) error {
				return conn.Each(ctx, d.statement(readNames, v), func(rows *sql.Rows) error {
					var name string
					err := rows.Scan(&name)
					page = append(page, name)
					return err
				})
			})
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range page {
				if !yield(name, nil) {
					return
				}
				v.after = name
			}
			more = len(page) == listPage
		}
	}
}

// waited has the names of the locks that claims of ours wait for.
func (d *Driver) waited(ctx context.Context, prefix string) (map[string]bool, error) {
	found := make(map[string]bool)
	err := d.patiently(ctx, func(conn conn) error {
		return conn.Each(ctx, d.statement(readWaited, values{begin: prefix}), func(rows *sql.Rows) error {
			var key string
			err := rows.Scan(&key)
			found[strings.TrimPrefix(key, d.key(""))] = true
			return err
		})
	})
	return found, err
}

var _ driver.Lister = (*Driver)(nil)
