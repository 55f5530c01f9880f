package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ahead is how far a proposed token may be ahead of the server's clock. A token from the far future would make all
// later ones grow from there, and a server that forgets them could then grant smaller ones.
const ahead = 10 * time.Minute

// life asks the server for its run ID. A cluster has several.
func (d *native) life(ctx context.Context) (driver.Life, error) {
	if d.conn.Cluster() {
		return driver.Life{}, driver.Unsupported(d.Traits(), "telling when one of several servers was started")
	}
	values, err := d.conn.Do(ctx, Command{Head: []string{"INFO", "server"}})
	if err != nil {
		return driver.Life{}, explain(err)
	}
	info := parseInfo(strings.Join(values, "\n"))
	if info["run_id"] == "" {
		return driver.Life{}, driver.Unsupported(d.Traits(), "telling when a server without a run ID was started")
	}
	return life(info["run_id"], info["uptime_in_seconds"]), nil
}

// proposal checks a proposal, and returns what the script takes.
func (d *native) proposal(ctx context.Context, c driver.Claim, token uint64) (keys, []string, error) {
	c.Queue = false
	k, err := d.begin(ctx, c)
	if err != nil {
		return keys{}, nil, err
	}
	if token == 0 || token > maxToken {
		return keys{}, nil, fmt.Errorf("redis: the token %d must be from 1 to %d: %w",
			token, uint64(maxToken), driver.ErrRefused)
	}
	ttl := driver.Milliseconds(c.TTL)
	args := []string{
		c.ID, tokenText(token), strconv.FormatInt(ttl, 10), about(c, ttl, d.listener.address(c.Name)), kind(c),
		strconv.FormatInt(ahead.Microseconds(), 10),
	}
	return k, d.appendKeep(args, ttl), nil
}

// parseVote reads what propose.lua answers; more says that it is not final.
func parseVote(c driver.Claim, token uint64, values []string) (st driver.Status, l driver.Life, more bool, err error) {
	if len(values) != 1 {
		return st, l, false, errNotUnderstood
	}
	text, about, _ := strings.Cut(values[0], " life ")
	run, seconds, ok := strings.Cut(about, " ")
	if !ok || run == "-" {
		return st, l, false, errNotUnderstood
	}
	answer, more := cutMore([]string{text})
	if answer[0] == "future" {
		return st, l, false, fmt.Errorf("redis: the token %d is more than %v ahead of the server's clock; "+
			"compare the clocks: %w", token, ahead, driver.ErrRefused)
	}
	st, err = parseStatus(answer, c.TTL)
	return st, life(run, seconds), more, err
}

// life reads a run ID and for how many seconds the server has run. The server counts from the second in which it
// started to the current one, which may be almost one second too many. Too few do no harm: a young server is trusted
// later.
func life(run, seconds string) driver.Life {
	n, _ := strconv.ParseInt(seconds, 10, 64) // without a number the server counts as young, which is safe
	return driver.Life{ID: run, Age: time.Duration(max(n-1, 0)) * time.Second}
}

// maxToken is the greatest number that scripts count exactly: their numbers are float64.
const maxToken = 1<<53 - 1
