package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// leave takes a claim out of the queue that nobody would be told of, and returns why; another error where it may be
// there still.
func (d *native) leave(ctx context.Context, c driver.Claim, st driver.Status, why error) error {
	c.Token = st.Token
	if err := d.release(ctx, c); err != nil && !errors.Is(err, driver.ErrGone) {
		return err
	}
	return why
}

// undoDenied gives a claim back that a script may have queued, or granted, before it was denied a command. It returns
// the error to tell.
func (d *native) undoDenied(ctx context.Context, c driver.Claim, denied error) error {
	if failed := d.giveBack(ctx, c, 0); !driver.IsAnswer(failed) {
		return unsure(denied)
	}
	return denied
}

// confirmed returns a status, unless it is a grant that too few replicas have. A new grant is given back then, so
// that nothing is left of it; a renewal extends nothing.
func (d *native) confirmed(ctx context.Context, c driver.Claim, st driver.Status, short error) (driver.Status, error) {
	if short == nil || !st.Granted {
		return st, nil
	}
	if c.Token == 0 && d.giveBack(ctx, c, st.Token) == nil {
		return driver.Status{}, fmt.Errorf("%w; the claim was given back: %w", short, driver.ErrRefused)
	}
	return driver.Status{}, short
}

// giveBack releases a claim that its holder never gets. The context of the request may have ended, and does not
// count: a lock that nobody knows to hold would stay taken until its TTL is over.
func (d *native) giveBack(ctx context.Context, c driver.Claim, token uint64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.opts.ReplicasWithin)
	defer cancel()
	c.Token = token
	if err := d.release(ctx, c); !errors.Is(err, driver.ErrGone) {
		return err
	}
	return nil
}

// requestScript returns the script for a claim. A claim that is queued already is renewed even when memory is full,
// because it needs no more of it.
func (d *native) requestScript(c driver.Claim) *script {
	if c.Token != 0 {
		return &d.scripts.renew
	}
	return &d.scripts.request
}

func (d *native) requestArgs(c driver.Claim, try driver.Try) []string {
	ttl := driver.Milliseconds(c.TTL)
	token := kind(c)
	switch {
	case c.Token != 0:
		token = tokenText(c.Token)
	case try == driver.TryFirst && d.keep.lastToken != "":
		token = strings.ToUpper(token) // it may be a lone claim
	}
	args := []string{c.ID, token, strconv.FormatInt(ttl, 10), about(c, ttl, d.listener.address(c.Name))}
	return d.appendKeep(args, ttl)
}

// kind returns what scripts call a claim: "h" if it would have the lock to itself, "s" if it would share it.
func kind(c driver.Claim) string {
	if c.Weight == c.Limit {
		return "h"
	}
	return "s"
}

// answered reads what request.lua says about a claim. After an error the claim is gone, or nobody knows: either way
// there is nothing to wait for.
func (d *native) answered(c driver.Claim, values []string) (driver.Status, error) {
	st, err := parseStatus(values, c.TTL)
	if err != nil {
		d.listener.forget(c.ID)
	}
	return st, err
}

// appendKeep adds for how many ms the claims of a lock must outlive their last use, where that is longer than what
// the script has.
func (d *native) appendKeep(args []string, ttl int64) []string {
	if long := keepTTLs * ttl; long > d.keep.usual.Milliseconds() {
		return append(args, strconv.FormatInt(long, 10))
	}
	return args
}
