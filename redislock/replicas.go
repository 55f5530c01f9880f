package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/driver"
)

// A sender sends commands and answers each, as [Conn.DoMany] does.
type sender func(ctx context.Context, cmds []Command) []Reply

// A confirmation counts the replicas that have what scripts wrote. Inside a script WAIT does not wait, so it follows them
// on their connection.
type confirmation struct {
	lane *lane
	need int
	have int
	err  error // why they cannot be counted
}

// confirming is the command that counts replicas.
func (o Options) confirming() Command {
	return Command{Head: []string{"WAIT", strconv.Itoa(o.Replicas), strconv.FormatInt(o.ReplicasWithin.Milliseconds(), 10)}}
}

func (d *Driver) confirmation(l *lane) *confirmation {
	return &confirmation{lane: l, need: d.opts.Replicas, have: d.opts.Replicas}
}

// laneOf returns the lane for what a script does.
func (d *Driver) laneOf(s *script) *lane {
	if s == &d.scripts.renew {
		return d.renewals
	}
	return d.requests
}

// send is a sender. When it is used several times, all that was sent must be confirmed.
func (c *confirmation) send(ctx context.Context, cmds []Command) []Reply {
	replies, last := c.lane.send(ctx, cmds)
	have := 0
	if last.Err == nil && len(last.Values) == 1 {
		have, last.Err = strconv.Atoi(last.Values[0])
	}
	c.have, c.err = min(c.have, have), errors.Join(c.err, last.Err)
	return replies
}

// short is the error for what too few replicas have, or nil.
func (c *confirmation) short() error {
	if c.have >= c.need {
		return nil
	}
	return errors.Join(fmt.Errorf("redis: %d of the %d replicas that must have the claim confirmed it; see to the replicas and their links", c.have, c.need), c.err)
}

// runConfirmed is run, and counts the replicas that have what the script wrote. short is the error for too few.
func (d *Driver) runConfirmed(ctx context.Context, s *script, k keys, args ...string) (values []string, short, err error) {
	if d.opts.Replicas == 0 {
		values, err = d.run(ctx, s, k, args...)
		return values, nil, err
	}
	confirm := d.confirmation(d.laneOf(s))
	reply := d.runMany(ctx, confirm.send, s, []Command{{Head: s.head, Keys: k.all(), Tail: args}})[0]
	return reply.Values, confirm.short(), reply.Err
}

// confirmed returns a status, unless it is a grant that too few replicas have. A new one is given back then, so that
// nothing is left of it; a renewal extends nothing.
func (d *Driver) confirmed(ctx context.Context, c driver.Claim, st driver.Status, short error) (driver.Status, error) {
	if short == nil || !st.Granted {
		return st, nil
	}
	if c.Token == 0 && d.giveBack(ctx, c, st.Token) == nil {
		return driver.Status{}, fmt.Errorf("%w; the claim was given back: %w", short, driver.ErrRefused)
	}
	return driver.Status{}, short
}

// giveBack releases a claim that its holder never gets, even when the holder has lost patience.
func (d *Driver) giveBack(ctx context.Context, c driver.Claim, token uint64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.opts.ReplicasWithin)
	defer cancel()
	c.Token = token
	if err := d.Release(ctx, c); !errors.Is(err, driver.ErrGone) {
		return err
	}
	return nil
}

// renewConfirmed is Renew where replicas must have the claims. Each server counts its own replicas, so in a cluster each
// claim goes by itself.
func (d *Driver) renewConfirmed(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	if d.conn.Cluster() {
		return driver.Renew(ctx, bare{d}, claims)
	}
	confirm := d.confirmation(d.renewals)
	results, err := d.renew(ctx, confirm.send, claims)
	if short := confirm.short(); short != nil {
		for i := range results {
			if results[i].Err == nil && results[i].Status.Granted {
				results[i] = driver.Result{Err: short}
			}
		}
	}
	return results, err
}

// bare is the driver without its abilities.
type bare struct{ driver.Driver }
