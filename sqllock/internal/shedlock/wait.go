package shedlock

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// Pauses between two looks at a lock that is taken. A holder, who has its renewals, looks less often.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	holdLook  = time.Second
)

// lookTime bounds a look. Its connection may be dead without a word, and those who ask share a few connections with
// those who look. But the server may be slow instead: who has learned nothing gives the next looks twice the time.
const (
	lookTime = 3 * time.Second
	lookMost = 2 * lookTime
)

// wait waits until a claim may have moved: nobody tells a client anything, so it looks now and then. A claim that
// waits looks whether the lock is free, and one that has it whether somebody has broken it.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (none driver.Status, err error) {
	if c.Token != 0 {
		return none, cmp.Or(d.look(ctx, c, "stands", holdLook), driver.ErrGone)
	}
	return none, d.look(ctx, c, "taken", lastLook)
}

// look returns when a question is no longer answered by yes.
func (d *Driver) look(ctx context.Context, c driver.Claim, question string, every time.Duration) error {
	pace, most := driver.Backoff{First: firstLook, Most: every}, lookTime
	for isSo := true; isSo; {
		if err := d.pause(ctx, &pace); err != nil {
			return err
		}
		err := d.patiently(ctx, func(conn conn) error {
			limited, cancel := context.WithTimeout(ctx, most)
			defer cancel()
			err := conn.Row(limited, d.statement(question, values{claim: c}), &isSo)
			if limited.Err() != nil && ctx.Err() == nil {
				d.doubt(limited)
				most = lookMost
				return nil // nothing is known, so it looks again
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pause pauses, unless the driver is closed.
func (d *Driver) pause(ctx context.Context, pace *driver.Backoff) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.life, func() { cancel(driver.ErrClosed) })()
	if pace.Pause(ctx) != nil {
		return replies.GaveUp(ctx)
	}
	return nil
}
