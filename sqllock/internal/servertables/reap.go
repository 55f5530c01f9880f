package servertables

import (
	"bytes"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once what sweeping does in passing.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	for step := (reaped{more: true}); step.more && err == nil; removed = append(removed, step.removed...) {
		step, err = runFrom(ctx, d.bulk, step.next, func(ctx context.Context, conn *conn, from place) (reaped, error) {
			return d.reapStep(ctx, conn, from, age)
		})
	}
	for more := true; more && err == nil; {
		more, err = runFrom(ctx, d.bulk, sweepMost, func(ctx context.Context, conn *conn, most int64) (bool, error) {
			return conn.forget(ctx, most)
		})
	}
	if err == nil {
		err = d.reapOthers(ctx, age, &removed)
	}
	return removed, err
}

func (d *Driver) reapOthers(ctx context.Context, age time.Duration, removed *[]driver.Leftover) (err error) {
	type step struct {
		names []string
		next  string
	}
	for at := (step{next: d.others.First}); at.next != "" && err == nil; {
		at, err = runFrom(ctx, d.bulk, at.next, func(ctx context.Context, conn *conn, from string) (s step, err error) {
			s.names, s.next, err = d.others.Step(ctx, conn.Conn, from, age)
			return s, err
		})
		*removed = append(*removed, leftovers(d.others.Kind, at.names)...)
	}
	return err
}

// afterAll is a name that no other is greater than.
var afterAll = bytes.Repeat([]byte{0xff}, maxName)

// A reaped is what a step has removed, and where to go on if there is more.
type reaped struct {
	removed []driver.Leftover
	next    place
	more    bool
}

// reapStep removes what a few rows tell. When one of the tables has ended it looks at the other.
func (d *Driver) reapStep(ctx context.Context, conn *conn, from place, age time.Duration) (r reaped, err error) {
	s, err := conn.survey(ctx, from, age)
	if err != nil {
		return r, err
	}
	expired, err := d.tidy(ctx, conn, s.stale)
	r.removed = leftovers("expired claim", expired)
	if err != nil {
		return r, err
	}
	tokens, err := conn.retire(ctx, s.unused, age)
	r.removed = append(r.removed, leftovers("last token", tokens)...)
	r.next, r.more = s.next, !s.ends()
	if len(r.next.locks) == 0 {
		r.next.locks = afterAll
	}
	if len(r.next.claims) == 0 {
		r.next.claims = afterAll
	}
	return r, err
}

func leftovers(kind string, names []string) (all []driver.Leftover) {
	for _, name := range names {
		all = append(all, driver.Leftover{Kind: kind, Name: name})
	}
	return all
}
