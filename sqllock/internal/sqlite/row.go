package sqlite

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A row is a claim as it is stored.
type row struct {
	driver.Claim
	deadline time.Duration // on the clock of deadlines
	since    int64         // microseconds since 1970
	client   string
	granted  bool
	revoked  bool
}

// entry is the claim as [driver.Entry] tells it.
func (r row) entry(now time.Duration) driver.Entry {
	return driver.Entry{Claim: r.Claim, Granted: r.granted, Since: time.UnixMicro(r.since), Left: r.deadline - now}
}

// scanRow reads the columns that all statements about claims return.
func scanRow(scan func(...any)) row {
	r := row{Claim: driver.Claim{Queue: true}}
	var token int64
	var name, owner, value []byte
	scan(&name, &token, &r.ID, &r.Weight, &r.Limit, (*int64)(&r.TTL), (*int64)(&r.deadline), &r.since,
		&r.client, &r.Detached, &r.granted, &r.revoked, &owner, &value)
	r.Name, r.Token, r.Owner, r.Value = string(name), uint64(token), string(owner), string(value)
	return r
}

// rows reads claims until f returns false.
func (t *tx) rows(s statement, args []any, f func(row) bool) {
	t.each(s, args, func(scan func(...any)) bool {
		r := scanRow(scan)
		return t.err == nil && f(r)
	})
}

// first reads one claim; nil when there is none.
func (t *tx) first(s statement, args ...any) (found *row) {
	t.rows(s, args, func(r row) bool {
		found = &r
		return false
	})
	return found
}
