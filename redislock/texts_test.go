package redislock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// Requests that learn at about the same time that the server does not know a script send its text once.
func TestTextsAreSentOnce(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	counted := &textCounter{Conn: d.conn, text: d.scripts.request.text}
	d.conn = counted
	for range 10 {
		srv.RedisCommand(t, "SCRIPT", "FLUSH")
		counted.sent.Store(0)
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				c := mutex(driver.NewID(), driver.NewID())
				if r := sendAll(t, t.Context(), d, driver.Op{Kind: driver.OpRequest, Claim: c})[0]; r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
		all.Wait()
		if n := counted.sent.Load(); n != 1 {
			t.Errorf("%d of 64 requests carry the text", n)
		}
	}
}

// A textCounter counts how often a text is sent.
type textCounter struct {
	Conn
	text string
	sent atomic.Int64
}

func (c *textCounter) Do(ctx context.Context, cmd Command) ([]string, error) {
	if slices.Contains(cmd.Head, c.text) {
		c.sent.Add(1)
	}
	return c.Conn.Do(ctx, cmd)
}
