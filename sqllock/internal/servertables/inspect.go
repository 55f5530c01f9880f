package servertables

import (
	"context"
	"time"
)

// inspectTime bounds what a client asks in passing, and no caller waits for. The connection may be dead without a word:
// who stands behind such a question, because the wake locks of a lock are there, goes elsewhere once it is given up.
// But the server may be slow instead, and then a client would learn nothing, and break off its connections, for ever.
// So each question that is given up doubles the time for the next ones, up to inspectMost, and others halve it.
const (
	inspectTime = 2 * time.Second
	inspectMost = 4 * inspectTime
)

// inPassing is the context of such a question, and what to call after it.
func (d *Driver) inPassing() (context.Context, func()) {
	limit := max(time.Duration(d.inspectTime.Load()), inspectTime)
	ctx, cancel := context.WithTimeout(d.requests.open, limit)
	return ctx, func() {
		defer cancel()
		if ctx.Err() != nil {
			d.inspectTime.Store(int64(min(2*limit, inspectMost)))
		} else {
			d.inspectTime.Store(int64(limit / 2))
		}
	}
}
