package leased

import "context"

// A Lease is what claims live by on the server.
type Lease interface {
	IsAlive() bool // the server is not known to have ended it
}

// A Slot is a place for a lease that is granted or about to be. Requests that need the same lease wait for one
// slot, so that the server is asked once.
type Slot[L Lease] struct {
	ready chan struct{} // closed when the rest is valid
	lease L
	err   error
}

// NewSlot returns a slot that is to be filled.
func NewSlot[L Lease]() *Slot[L] { return &Slot[L]{ready: make(chan struct{})} }

// Fill says what became of the lease. It is called once.
func (s *Slot[L]) Fill(lease L, err error) {
	s.lease, s.err = lease, err
	close(s.ready)
}

// Await returns the lease when it is granted.
func (s *Slot[L]) Await(ctx context.Context) (lease L, err error) {
	select {
	case <-s.ready:
		return s.lease, s.err
	case <-ctx.Done():
		return lease, ctx.Err()
	}
}

// Lease returns the lease if it is granted already.
func (s *Slot[L]) Lease() (lease L, ok bool) {
	select {
	case <-s.ready:
		return s.lease, s.err == nil
	default:
		return lease, false
	}
}

// IsUsable reports whether a lease is on its way, or there and alive.
func (s *Slot[L]) IsUsable() bool {
	select {
	case <-s.ready:
		return s.err == nil && s.lease.IsAlive()
	default:
		return true
	}
}
