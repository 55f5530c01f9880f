package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Revoke asks the holders of a lock to let go: their leases' Revoked channels close. They decide. A lock that nobody
// holds is not an error.
func (c *Client) Revoke(ctx context.Context, name string) error {
	l := c.lock(name, nil)
	queue, err := c.Queue(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range queue {
		if !e.Granted {
			break
		}
		if err := driver.Revoke(ctx, c.driver, name, e.ID); err != nil && !isGone(err) {
			return l.unserved(ctx, "revoke", err)
		}
	}
	return nil
}

// Revoked returns a channel that is closed when somebody asks the holder to let go: see [Client.Revoke]. The lease
// stays valid; a holder that can, finishes and releases it.
func (l *Lease) Revoked() <-chan struct{} {
	h := l.grant.hold
	h.watch()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked == nil {
		h.asked = make(chan struct{})
		if h.revoked {
			close(h.asked)
		}
	}
	return h.asked
}

// note takes what the backend says about a hold beside that it is held.
func (h *hold) note(st driver.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.contended = st.Contended
	if st.Revoked && !h.revoked {
		h.revoked = true
		if h.asked != nil {
			close(h.asked)
		}
	}
}
