package shedlock

import (
	"context"
	"database/sql"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// theirs begins what stands for the ID of a claim of another program, which has none. The rest is its locked_at.
const theirs = "shedlock-"

// queue returns the claims on a lock: the holder, then those of ours that wait, in the order in which they came. They
// need not be granted the lock in that order.
func (d *Driver) queue(ctx context.Context, name string, _ int) (queue []driver.Entry, err error) {
	if err := d.refuse(name); err != nil {
		return nil, err
	}
	v := values{claim: driver.Claim{Name: name}}
	err = d.patiently(ctx, func(conn conn) error {
		err := conn.Each(ctx, d.statement("holder", v), func(rows *sql.Rows) error {
			e, found, err := readHolder(rows, name)
			if found == name {
				queue = append(queue, e)
			}
			return err
		})
		if err != nil {
			return err
		}
		return conn.Each(ctx, d.statement("waiting", v), func(rows *sql.Rows) error {
			e, err := readClaim(rows, name)
			switch {
			case len(queue) > 0 && queue[0].ID == e.ID:
				e.Granted, e.Token, e.Left = true, queue[0].Token, queue[0].Left
				queue[0] = e
			case !e.Granted: // or else it has lost the lock
				queue = append(queue, e)
			}
			return err
		})
	})
	return queue, err
}

// readHolder reads what ShedLock's table alone shows of a lock that is taken, and the lock's name there.
func readHolder(rows *sql.Rows, name string) (e driver.Entry, found string, err error) {
	e = driver.Entry{Claim: driver.Claim{Name: name, Weight: 1, Limit: 1}, Granted: true}
	var since, left int64 // in milliseconds, and in microseconds
	err = rows.Scan(&found, &e.Owner, &since, &left)
	e.Token, e.Since = uint64(max(since, 0)), time.UnixMilli(since)
	e.Left = max(time.Duration(left)*time.Microsecond-unsaid, 1)
	e.ID = theirs + strconv.FormatInt(since, 10)
	if id, isOurs := claimIn(e.Owner); isOurs {
		e.ID, e.Owner = id, strings.TrimPrefix(e.Owner, mark(id))
	}
	return e, found, err
}

// readClaim reads a claim of ours that waits, or has had the lock at last.
func readClaim(rows *sql.Rows, name string) (e driver.Entry, err error) {
	e.Claim = driver.Claim{Name: name, Weight: 1, Limit: 1}
	var waits bool
	var since, left int64
	err = rows.Scan(&e.ID, &waits, &e.Token, &e.Owner, &e.Value, &since, &left)
	e.Granted, e.Since, e.Left = !waits, time.UnixMicro(since), time.Duration(left)*time.Microsecond
	return e, err
}

// listPage is how many names a statement of List returns.
const listPage = 1000

// List implements [driver.Lister]. It remembers the names of the locks that claims of ours wait for; those that are
// taken come in pages, which it reads as they are asked for, each once: their column has them as its primary key.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		v := values{begin: prefix}
		page, err := d.names(ctx, "waited", v)
		seen := make(map[string]bool)
		for _, key := range page {
			name := strings.TrimPrefix(key, d.key(""))
			if seen[name] = true; !yield(name, nil) {
				return
			}
		}
		for more := true; more && err == nil; more = len(page) == listPage {
			page, err = d.names(ctx, "names", v)
			for _, name := range page {
				if v.after = name; !seen[name] && !yield(name, nil) {
					return
				}
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

func (d *Driver) names(ctx context.Context, what string, v values) (names []string, err error) {
	err = d.patiently(ctx, func(conn conn) error {
		return conn.Each(ctx, d.statement(what, v), func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			names = append(names, name)
			return err
		})
	})
	return names, err
}

var _ driver.Lister = (*Driver)(nil)
