package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// asideTime bounds what a client asks in passing, and no caller waits for. The connection may be dead without a word:
// who stands behind such a question, because the wake locks of a lock are there, goes elsewhere once it is given up.
const asideTime = 2 * time.Second

// aside is the context of such a question.
func (d *Driver) aside() (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.requests.open, asideTime)
}

// inspect looks at claims in passing, and renews none.
func (d *Driver) inspect(claims []driver.Claim) ([]answer, error) {
	ctx, cancel := d.aside()
	defer cancel()
	return d.inquire(ctx, d.requests, affinity{}, claims, false)
}
