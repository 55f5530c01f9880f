package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/driver"
)

// Request queues the claim or renews it, as [driver.Driver] says.
func (d *native) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	k, err := d.begin(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	if c.Queue {
		// Before the request: the record names the channel, and a grant may be published once the claim is queued.
		if err := d.notifier.prepare(ctx, c); err != nil {
			return driver.Status{}, explain(err)
		}
	}
	st, err := d.request(ctx, k, c)
	if err != nil || st.Granted || !c.Queue {
		return st, err
	}
	again, err := d.notifier.listenFor(ctx, c)
	if err = explain(err); errors.Is(err, driver.ErrRefused) {
		return driver.Status{}, d.leave(ctx, c, st, err)
	}
	if err != nil || !again {
		return st, err
	}
	// The record named no channel until now, so the claim may have been granted without a word. Asking again names the
	// channel, and answers with what happened before. With its token the request is a renewal: it queues nothing anew.
	c.Token = st.Token
	return d.request(ctx, k, c)
}

// leave takes a claim out of the queue that nobody would be told of, and returns why; another error where it may be
// there still.
func (d *native) leave(ctx context.Context, c driver.Claim, st driver.Status, why error) error {
	c.Token = st.Token
	if err := d.Release(ctx, c); err != nil && !errors.Is(err, driver.ErrGone) {
		return err
	}
	return why
}

// request sends a claim to the server, and repeats that while the server answers that the queue is not up to date.
func (d *native) request(ctx context.Context, k keys, c driver.Claim) (driver.Status, error) {
	for {
		st, more, err := d.requestOnce(ctx, k, c)
		if err != nil || st.Granted || !more {
			return st, err
		}
	}
}

func (d *native) requestOnce(ctx context.Context, k keys, c driver.Claim) (st driver.Status, more bool, err error) {
	d.notifier.extend(c, false)
	values, short, err := d.runConfirmed(ctx, d.requestScript(c), k, d.requestArgs(c)...)
	if err != nil {
		if deniedInScript(err) && c.Token == 0 {
			err = d.undoDenied(ctx, c, err)
		}
		return driver.Status{}, false, err
	}
	values, more = cutMore(values)
	st, err = d.answered(c, values)
	if err != nil {
		return driver.Status{}, false, err
	}
	// After the answer is read: only a grant needs the replicas, and giving it back needs its token.
	st, err = d.confirmed(ctx, c, st, short)
	return st, more, err
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
	if err := d.Release(ctx, c); !errors.Is(err, driver.ErrGone) {
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

func (d *native) requestArgs(c driver.Claim) []string {
	ttl := driver.Milliseconds(c.TTL)
	token := kind(c)
	if c.Token != 0 {
		token = tokenText(c.Token)
	}
	args := []string{c.ID, token, strconv.FormatInt(ttl, 10), about(c, ttl, d.notifier.address(c.Name))}
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
		d.notifier.forget(c.ID)
	}
	return st, err
}

// appendKeep adds for how many ms the claims of a lock must outlive their last use, where that is longer than what
// the script has.
func (d *native) appendKeep(args []string, ttl int64) []string {
	if long := keepTTLs * ttl; long > d.opts.Keep.Milliseconds() {
		return append(args, strconv.FormatInt(long, 10))
	}
	return args
}
