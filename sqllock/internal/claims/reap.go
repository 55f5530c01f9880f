package claims

import (
	"bytes"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once what sweeping does in passing.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	from, more := place{}, true
	for more && err == nil {
		err = d.aside(ctx, func(ctx context.Context, conn *conn) (err error) {
			from, more, err = d.reapStep(ctx, conn, from, age, &removed)
			return err
		})
	}
	for n := int64(sweepMost); n == sweepMost && err == nil; {
		err = d.aside(ctx, func(ctx context.Context, conn *conn) (err error) {
			n, err = conn.number(ctx, forgetEnds, int64(sweepMost))
			return err
		})
	}
	if err == nil {
		err = d.reapOthers(ctx, age, &removed)
	}
	return removed, err
}

func (d *Driver) reapOthers(ctx context.Context, age time.Duration, removed *[]driver.Leftover) (err error) {
	for next := d.others.First; next != "" && err == nil; {
		err = d.aside(ctx, func(ctx context.Context, conn *conn) (err error) {
			names, after, err := d.others.Step(ctx, conn.Conn, next, age)
			if err == nil {
				next, *removed = after, append(*removed, leftovers(d.others.Kind, names)...)
			}
			return err
		})
	}
	return err
}

// afterAll is a name that no other is greater than.
var afterAll = bytes.Repeat([]byte{0xff}, maxName)

// reapStep removes what a few rows tell, and returns where to go on. When one of the tables has ended it looks at the other.
func (d *Driver) reapStep(
	ctx context.Context, conn *conn, from place, age time.Duration, removed *[]driver.Leftover,
) (next place, more bool, err error) {
	s, err := conn.survey(ctx, from, age)
	if err != nil {
		return from, true, err
	}
	expired, err := d.tidy(ctx, conn, s.stale)
	*removed = append(*removed, leftovers("expired claim", expired)...)
	if err != nil {
		return from, true, err
	}
	tokens, err := conn.retire(ctx, s.unused, age)
	*removed = append(*removed, leftovers("last token", tokens)...)
	if s.ends() || err != nil {
		return from, err != nil, err
	}
	next = s.next
	if len(next.locks) == 0 {
		next.locks = afterAll
	}
	if len(next.claims) == 0 {
		next.claims = afterAll
	}
	return next, true, nil
}

func leftovers(kind string, names []string) (all []driver.Leftover) {
	for _, name := range names {
		all = append(all, driver.Leftover{Kind: kind, Name: name})
	}
	return all
}
