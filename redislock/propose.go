package redislock

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ahead is how far a proposed token may be ahead of the server's clock. A token from the far future would make all later
// ones grow from there, and a server that forgets them could then grant smaller ones.
const ahead = 10 * time.Minute

// Propose grants the claim under a token that the caller chose, as [driver.Proposer] says. Tokens are µs since 1970; one
// that is more than 10 minutes ahead of the server's clock is refused.
func (d *Driver) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, error) {
	c.Queue = false
	k, err := d.begin(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	if token == 0 || token > maxToken {
		return driver.Status{}, fmt.Errorf("redis: the token %d must be from 1 to %d: %w", token, uint64(maxToken), driver.ErrRefused)
	}
	ttl := milliseconds(c.TTL)
	args := []string{c.ID, strconv.FormatUint(token, 10), d.about(c, ttl), strconv.FormatInt(ahead.Microseconds(), 10)}
	values, err := d.run(ctx, &d.scripts.propose, k, d.appendKeep(args, ttl)...)
	if err != nil {
		return driver.Status{}, err
	}
	if len(values) == 1 && values[0] == "future" {
		return driver.Status{}, fmt.Errorf("redis: the token %d is more than %v ahead of the server's clock; compare the clocks: %w", token, ahead, driver.ErrRefused)
	}
	return parseStatus(values, c.TTL)
}

// maxToken is the greatest number that scripts count exactly.
const maxToken = 1<<53 - 1
