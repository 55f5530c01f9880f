package shedlock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// request requests a claim.
func (d *Driver) request(ctx context.Context, c driver.Claim) (st driver.Status, err error) {
	if err := driver.Validate(c, d.Traits()); err != nil {
		return st, err
	}
	if err := d.refuse(c.Name); err != nil {
		return st, err
	}
	with := d.patiently
	if c.Token != 0 { // a holder's
		with = d.with
	}
	err = with(ctx, func(conn conn) error {
		if err := conn.request(ctx, c); err != nil {
			return err
		}
		now, err := conn.read(ctx, c)
		if err == nil {
			st, err = conn.judge(ctx, c, now)
		}
		return replies.Unsure(err)
	})
	return st, err
}

// request makes a claim that has no token known and lets it take the lock if that is free; and it prolongs a claim
// that has it.
//
// The claim is noted first, because only a claim that is noted, and has not ended, takes the lock: so whoever bars its
// ID stops a request that is still under way. Its token is noted last, because it is what taking the lock has written.
// A claim that would not wait and does not have the lock is forgotten before the lock is read for the answer, so that
// no other request of it takes the lock after that.
func (c conn) request(ctx context.Context, claim driver.Claim) (err error) {
	v := values{claim: claim, state: asking(claim)}
	scripts := []string{"note", "take", "hold"}
	if claim.Token != 0 {
		scripts = []string{"hold"}
	}
	holds := false // at last
	for i, what := range scripts {
		holds, err = c.do(ctx, what, v)
		switch {
		case err == nil:
		case isUnfit(err):
			c.forget(ctx, claim)
			return unfit(claim.Name, err)
		case what == "take" && driver.IsAnswer(err): // it was noted, no more
			c.forget(ctx, claim)
			return err
		case i > 0:
			return replies.Unsure(err)
		default:
			return err
		}
	}
	if holds || claim.Queue || claim.Token != 0 {
		return nil
	}
	_, err = c.do(ctx, "forget", v)
	return replies.Unsure(err)
}

// States of a claim: see the package.
const (
	asks     = "asks"
	waits    = "waits"
	granted  = "granted"
	alone    = "alone"
	released = "released"
	ended    = "ended"
)

// asking is the state of a claim that does not have the lock.
func asking(c driver.Claim) string {
	if c.Queue {
		return waits
	}
	return asks
}

// forget removes a claim that was answered no, unless it has the lock since. What it cannot, a sweep will.
func (c conn) forget(ctx context.Context, claim driver.Claim) {
	_, _ = c.do(ctx, "forget", values{claim: claim, state: asking(claim)})
}

// disown frees a lock that another request of a forgotten claim took before it was forgotten. A later one may have
// noted the claim again; then the lock is that one's.
func (c conn) disown(ctx context.Context, claim driver.Claim) error {
	v := values{claim: claim, state: ended}
	barred, err := c.do(ctx, "barunknown", v)
	if err == nil && barred {
		_, err = c.do(ctx, "free", v)
	}
	return err
}

// A picture is what the tables have about a claim and its lock.
type picture struct {
	state     string // empty: they know no such claim
	token     uint64
	name      string // of the lock, as it is in the table; empty if it is not
	holds     bool
	left      time.Duration // that the lock is taken
	contended bool
}

func (c conn) read(ctx context.Context, claim driver.Claim) (p picture, err error) {
	var micros int64
	err = c.Row(ctx, c.driver.statement("read", values{claim: claim}),
		&p.state, &p.token, &p.name, &p.holds, &micros, &p.contended)
	p.left = time.Duration(micros) * time.Microsecond
	return p, err
}

// judge is the answer to a claim.
func (c conn) judge(ctx context.Context, claim driver.Claim, now picture) (st driver.Status, err error) {
	wasTold := now.state == granted || now.state == alone
	switch {
	case now.name != "" && now.name != claim.Name:
		c.forget(ctx, claim)
		return st, misnamed(claim.Name, now.name)
	case claim.Token != 0 && claim.Token != now.token:
		return st, driver.ErrGone
	case wasTold && now.holds:
		return c.granted(claim, now), nil
	case wasTold:
		if _, err := c.do(ctx, "expire", values{claim: claim}); err != nil {
			return st, err
		}
		return st, driver.ErrGone
	case now.state == released || now.state == ended || claim.Token != 0:
		return st, driver.ErrGone
	case now.state == "" && claim.Queue, now.state != "" && now.holds:
		return st, errLate
	case now.state == "" && now.holds:
		if err := c.disown(ctx, claim); err != nil {
			return st, err
		}
		now.left = 0
	}
	return driver.Status{TTL: claim.TTL, Retry: max(now.left, 0)}, nil
}

// granted is the answer to a claim that has the lock.
func (c conn) granted(claim driver.Claim, now picture) driver.Status {
	st := driver.Status{Token: now.token, Granted: true, TTL: claim.TTL, Contended: now.contended}
	if now.state == alone && !claim.Detached { // it was left alone after this was sent: nothing changes
		st.TTL = max(now.left-unsaid, 1)
	}
	return st
}

// unsaid is how much longer a lock may be taken than its claim was told: times in the table are whole milliseconds.
const unsaid = 2 * time.Millisecond

// errLate says that the lock was taken for a claim and the request took so long that it has ended
// since, or is about to.
var errLate = errors.New("the database took so long that the claim has ended meanwhile; it can be requested again")
