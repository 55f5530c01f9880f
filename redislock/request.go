package redislock

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Request queues the claim or renews it, as [driver.Driver] says.
func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	k, err := d.begin(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	if c.Queue {
		if err := d.notifier.expect(ctx, c); err != nil {
			return driver.Status{}, explain(err)
		}
	}
	st, err := d.request(ctx, k, c)
	if err != nil || st.Granted || !c.Queue {
		return st, err
	}
	again, err := d.notifier.untold(ctx, c)
	if err != nil || !again {
		return st, explain(err)
	}
	c.Token = st.Token
	return d.request(ctx, k, c)
}

// request sends a claim to the server, again and again while the answer is that of a queue which is not up to date.
func (d *Driver) request(ctx context.Context, k keys, c driver.Claim) (driver.Status, error) {
	for {
		st, more, err := d.requestOnce(ctx, k, c)
		if err != nil || st.Granted || !more {
			return st, err
		}
	}
}

func (d *Driver) requestOnce(ctx context.Context, k keys, c driver.Claim) (st driver.Status, more bool, err error) {
	d.notifier.extend(c)
	values, short, err := d.runConfirmed(ctx, d.requestScript(c), k, d.requestArgs(c)...)
	if err != nil {
		return driver.Status{}, false, err
	}
	values, more = cutMore(values)
	st, err = d.answered(c, values)
	if err != nil {
		return driver.Status{}, false, err
	}
	st, err = d.confirmed(ctx, c, st, short)
	return st, more, err
}

// cutMore takes off what scripts add to an answer while there is more to do: it may change when one asks again.
func cutMore(values []string) (answer []string, more bool) {
	if len(values) == 0 {
		return values, false
	}
	text, more := strings.CutSuffix(values[0], " more")
	if !more {
		return values, false
	}
	return append([]string{text}, values[1:]...), true
}

// Renew requests many claims in one round trip, as [driver.Renewer] says.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	if d.opts.Replicas > 0 {
		return d.renewConfirmed(ctx, claims)
	}
	return d.renew(ctx, d.conn.DoMany, claims)
}

func (d *Driver) renew(ctx context.Context, send sender, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	cmds := make([]Command, 0, len(claims))
	at := make([]int, 0, len(claims))
	for i, c := range claims {
		k, err := d.begin(ctx, c)
		if err != nil {
			results[i].Err = err
			continue
		}
		d.notifier.extend(c)
		cmds = append(cmds, Command{Head: d.scripts.renew.head, Keys: k.all(), Tail: d.requestArgs(c)})
		at = append(at, i)
	}
	if len(cmds) == 0 {
		return results, ctx.Err()
	}
	for i, r := range d.runMany(ctx, send, &d.scripts.renew, cmds) {
		result := &results[at[i]]
		if result.Err = r.Err; r.Err == nil {
			values, _ := cutMore(r.Values) // one that waits is told to ask again, by Status.Retry
			result.Status, result.Err = d.answered(claims[at[i]], values)
		}
	}
	return results, nil
}

// requestScript returns the script for a claim: one that is queued already is renewed even when memory is full.
func (d *Driver) requestScript(c driver.Claim) *script {
	if c.Token != 0 {
		return &d.scripts.renew
	}
	return &d.scripts.request
}

func (d *Driver) requestArgs(c driver.Claim) []string {
	ttl := driver.Milliseconds(c.TTL)
	token := kind(c)
	if c.Token != 0 {
		token = tokenText(c.Token)
	}
	return d.appendKeep([]string{c.ID, token, strconv.FormatInt(ttl, 10), d.about(c, ttl)}, ttl)
}

// kind is how scripts name a claim that would have the lock alone, and one that would share it.
func kind(c driver.Claim) string {
	if c.Weight == c.Limit {
		return "h"
	}
	return "s"
}

// answered reads what request.lua says about a claim.
func (d *Driver) answered(c driver.Claim, values []string) (driver.Status, error) {
	st, err := parseStatus(values, c.TTL)
	if err != nil {
		d.notifier.forget(c.ID)
	}
	return st, err
}

// appendKeep adds how long the claims of a lock must outlive their last use, in ms, where the default is too short.
func (d *Driver) appendKeep(args []string, ttl int64) []string {
	if long := keepTTLs * ttl; long > d.opts.Keep.Milliseconds() {
		return append(args, strconv.FormatInt(long, 10))
	}
	return args
}
