package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// inspectTime bounds what a client asks in passing, and no caller waits for. The connection may be dead without a word:
// who stands behind such a question, because the wake locks of a lock are there, goes elsewhere once it is given up.
const inspectTime = 2 * time.Second

// inPassing is the context of such a question.
func (d *Driver) inPassing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.requests.open, inspectTime)
}

// inspect looks at claims in passing, and renews none.
func (d *Driver) inspect(claims []driver.Claim) ([]answer, error) {
	ctx, cancel := d.inPassing()
	defer cancel()
	return d.inquire(ctx, d.requests, affinity{}, claims, false)
}
