//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"os"
	"sync"
	"syscall"

	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A writerQueue lets the processes that write a database go one after the other. SQLite alone would let them try
// again and again, some of them for long; the kernel keeps those who wait for a flock in a queue, and wakes them.
// Correctness does not depend on it.
type writerQueue struct {
	file *os.File

	mu     sync.Mutex
	asking chan error // the answer of the goroutine that waits for the flock, if there is one
	wanted bool       // false when nobody takes the answer
}

// openWriterQueue uses the folder of the clients for the flock, so that there is no file that somebody could plant.
func openWriterQueue(db *database) (*writerQueue, error) {
	f, err := db.folder.root.Open(".")
	if err != nil {
		return nil, err
	}
	return &writerQueue{file: f}, nil
}

// enter waits until it is the caller's turn, who then calls leave. It is called by one goroutine at a time.
func (q *writerQueue) enter(ctx context.Context) error {
	answer, first := q.ask()
	if first {
		return nil
	}
	select {
	case err := <-answer:
		q.answered()
		return err
	case <-ctx.Done():
		q.giveUp(answer)
		return replies.GaveUp(ctx)
	}
}

// ask tries to get the flock at once, and otherwise waits for it in the background.
func (q *writerQueue) ask() (answer chan error, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = true
	if q.asking == nil {
		if flock(q.file, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return nil, true
		}
		q.asking = make(chan error, 1)
		go q.await(q.asking) // ends when the other writers have let go of the flock
	}
	return q.asking, false
}

// await waits for the flock, which cannot be interrupted. If nobody wants it any more, it lets go of it.
func (q *writerQueue) await(answer chan error) {
	err := flock(q.file, syscall.LOCK_EX)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wanted {
		answer <- err
		return
	}
	q.asking = nil
	q.leave()
}

func (q *writerQueue) answered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asking = nil
}

// giveUp lets go of the flock if it has come meanwhile; otherwise await does, when it comes.
func (q *writerQueue) giveUp(answer chan error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = false
	select {
	case <-answer:
		q.asking = nil
		q.leave()
	default:
	}
}

func (q *writerQueue) leave() { flock(q.file, syscall.LOCK_UN) } // it cannot fail on a file that is open

func (q *writerQueue) close() error { return q.file.Close() }
