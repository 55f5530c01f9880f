package holdfast

import (
	"context"
	"sync"
)

// background counts what is under way for a client, so that Close can wait for it: acquisitions, and what goes on after
// a call returned.
type background struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n becomes zero; nil when nobody waits for that
}

// run calls f in a goroutine of its own, and counts it.
func (b *background) run(f func()) {
	b.enter()
	go func() {
		defer b.leave()
		f()
	}()
}

func (b *background) enter() {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
}

func (b *background) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n--
	if b.n == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// wait returns when nothing is under way, or the context's cause when that ends first.
func (b *background) wait(ctx context.Context) error {
	select {
	case <-b.done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *background) done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	return b.idle
}
