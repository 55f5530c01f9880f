package servertables

import (
	"bytes"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once what sweeping does in passing.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	for step := (swept{}); !step.over && err == nil; removed = append(removed, step.removed...) {
		step, err = runFrom(ctx, d.bulk, step.next, func(ctx context.Context, conn *conn, from place) (swept, error) {
			s, err := d.step(ctx, conn, from, age)
			s.next.onceOnly()
			return s, err
		})
	}
	for more := true; more && err == nil; {
		more, err = runFrom(ctx, d.bulk, sweepMost, func(ctx context.Context, conn *conn, most int64) (bool, error) {
			return conn.forget(ctx, most)
		})
	}
	for others, more := (Reaped{}), true; more && err == nil; more = others.Next != "" {
		next := others.Next
		others, err = runFrom(ctx, d.bulk, next, func(ctx context.Context, conn *conn, from string) (Reaped, error) {
			return d.alsoReap(ctx, conn.Conn, from, age)
		})
		removed = append(removed, leftovers(others.Kind, others.Names)...)
	}
	return removed, err
}

// afterAll is a name that no other is greater than.
var afterAll = bytes.Repeat([]byte{0xff}, maxName)

// onceOnly keeps a table that has ended from being begun again, while the other has not.
func (p *place) onceOnly() {
	if len(p.locks) == 0 {
		p.locks = afterAll
	}
	if len(p.claims) == 0 {
		p.claims = afterAll
	}
}

func leftovers(kind string, names []string) (all []driver.Leftover) {
	for _, name := range names {
		all = append(all, driver.Leftover{Kind: kind, Name: name})
	}
	return all
}
