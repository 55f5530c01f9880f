package holdfast

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Leftover is something that Reap has removed: its Kind, such as "last token", and the Name of the lock it belonged to,
// empty when it belonged to none.
type Leftover = driver.Leftover

// Ages of what is removed. What is younger than the least may belong to a request that is under way; the usual one leaves
// a clock that is set back by a day without effect on tokens.
const (
	leastReapAge = time.Minute
	usualReapAge = 24 * time.Hour
)

// Reap removes what locks of the past have left behind and nobody has used for a day: see [Client.ReapOlderThan].
func (c *Client) Reap(ctx context.Context) ([]Leftover, error) {
	return c.ReapOlderThan(ctx, usualReapAge)
}

// ReapOlderThan removes what nobody has used for this long, a minute or more: tokens of locks that are not used any more,
// claims of clients that died. It returns what was removed, beside an error, too. It never touches a lock that is held or
// waited for, and tokens go on to grow while no clock goes back by more than age. Backends remove most by themselves, and
// some leave nothing behind, so nobody has to call this.
func (c *Client) ReapOlderThan(ctx context.Context, age time.Duration) ([]Leftover, error) {
	if err := c.closed(); err != nil {
		return nil, c.failure("reap", err)
	}
	if age < leastReapAge {
		return nil, c.failure("reap", fmt.Errorf("older than %v is too young; it must be %v or more, so that nothing of a request under way is removed", age, leastReapAge))
	}
	removed, err := driver.Reap(ctx, c.driver, age)
	if err != nil {
		err = c.failure("reap", err)
	}
	return removed, err
}
