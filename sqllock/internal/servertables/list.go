package servertables

import (
	"context"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Queue implements [driver.Driver]. Which claims are granted follows from those that live: one whose way is free since
// a claim ahead expired has not been told yet.
func (d *Driver) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	read := func(ctx context.Context, l *lane) (entries []driver.Entry, err error) {
		err = l.conn.rows(ctx, readQueue, []any{[]byte(name)}, func(scan func(...any) error) error {
			e, err := readEntry(name, scan)
			entries = append(entries, e)
			return err
		})
		grant(entries)
		return entries, err
	}
	return run(ctx, d.requests, affinity{name: name}, read)
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

// List implements [driver.Lister]. The names are those of one moment.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		names, err := runBulk(ctx, d, func(ctx context.Context, conn *conn) ([]string, error) { // there may be millions
			return conn.names(ctx, readNames, []byte(prefix))
		})
		if err != nil {
			yield("", err)
			return
		}
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// names calls a routine that returns names of locks.
func (c *conn) names(ctx context.Context, r routine, args ...any) (names []string, err error) {
	err = c.rows(ctx, r, args, func(scan func(...any) error) error {
		var name []byte
		err := scan(&name)
		names = append(names, string(name))
		return err
	})
	return names, err
}
