//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// A turn lets the writers of a database go one after the other. SQLite would let them try again and again, and some of
// them for long; the kernel keeps those who wait for a flock in a queue and wakes them. Correctness does not depend on it.
type turn struct {
	file *os.File

	mu     sync.Mutex
	asking chan error // who waits for the flock, if anybody, answers here
	wanted bool       // false when nobody takes the answer
}

// openTurn takes the folder of the clients for the flock, so that there is no file that somebody could plant.
func openTurn(p *place) (*turn, error) {
	f, err := p.folder.root.Open(".")
	if err != nil {
		return nil, err
	}
	return &turn{file: f}, nil
}

// take waits for the turn of the caller, who passes it on. It is called by one goroutine at a time.
func (t *turn) take(ctx context.Context) error {
	answer, taken := t.ask()
	if taken {
		return nil
	}
	select {
	case err := <-answer:
		t.answered()
		return err
	case <-ctx.Done():
		t.giveUp(answer)
		return context.Cause(ctx)
	}
}

// ask tries to take the turn, and otherwise waits for it in the background.
func (t *turn) ask() (answer chan error, taken bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = true
	if t.asking == nil {
		if flock(t.file, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return nil, true
		}
		t.asking = make(chan error, 1)
		go t.await(t.asking) // ends when the flock is free, for which others see
	}
	return t.asking, false
}

// await waits for the flock, which cannot be interrupted, and passes it on when nobody wants it any more.
func (t *turn) await(answer chan error) {
	err := flock(t.file, syscall.LOCK_EX)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wanted {
		answer <- err
		return
	}
	t.asking = nil
	t.pass()
}

func (t *turn) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = nil
}

func (t *turn) giveUp(answer chan error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = false
	select {
	case <-answer:
		t.asking = nil
		t.pass()
	default: // await will
	}
}

func (t *turn) pass() { flock(t.file, syscall.LOCK_UN) } // it cannot fail on a file that is open

func (t *turn) close() error { return t.file.Close() }
