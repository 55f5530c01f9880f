package cases

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A baton is what the holders of one lock hand on. It measures for how long nobody has it, and finds out when two have.
type baton struct {
	mu     sync.Mutex
	held   bool
	passed time.Time       // when the last holder let go
	taken  chan struct{}   // closed when the next holder has it; nil before the first was passed
	gaps   []time.Duration // for how long nobody had it, for each time it was passed on
	goal   int             // how many gaps are waited for
	there  chan struct{}   // closed when there are that many
}

var errTwoHolders = errors.New("two clients hold the lock at once")

// take is what a holder calls when the lock is its own.
func (b *baton) take() error {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held {
		return errTwoHolders
	}
	b.held = true
	if b.taken == nil {
		return nil
	}
	close(b.taken)
	b.gaps = append(b.gaps, now.Sub(b.passed))
	if len(b.gaps) == b.goal {
		close(b.there)
	}
	return nil
}

// pass is what a holder calls just before it lets go. The channel is closed when the next holder has the lock.
func (b *baton) pass() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	b.taken = make(chan struct{})
	b.passed = time.Now()
	return b.taken
}

// follow waits until the lock was passed on n more times or ctx ends, and returns for how long nobody had it each time.
// If nobody has it when ctx ends, the last is how long that has been so. One caller at a time.
func (b *baton) follow(ctx context.Context, n int) []time.Duration {
	b.mu.Lock()
	from := len(b.gaps)
	b.mu.Unlock()
	b.reach(ctx, from+n)
	b.mu.Lock()
	defer b.mu.Unlock()
	gaps := slices.Clone(b.gaps[from:min(from+n, len(b.gaps))])
	if len(gaps) < n && !b.held && b.taken != nil {
		gaps = append(gaps, time.Since(b.passed))
	}
	return gaps
}

// reach waits until the lock was passed on n times in all or ctx ends, and returns how often it was. One caller at a
// time.
func (b *baton) reach(ctx context.Context, n int) int {
	b.mu.Lock()
	b.goal, b.there = n, make(chan struct{})
	if len(b.gaps) >= n {
		close(b.there)
		b.goal = 0
	}
	there := b.there
	b.mu.Unlock()
	select {
	case <-there:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.goal = 0
	return len(b.gaps)
}
