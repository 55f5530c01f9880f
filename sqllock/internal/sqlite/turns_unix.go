//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// Turns let the processes that use a database go one after the other. SQLite alone would let them try again and
// again, some of them for long; the kernel keeps those who wait for a flock in a queue, and wakes them. Correctness
// does not depend on it: while there is no folder, turns are nil, and everybody is let in.
type turns struct {
	folder *os.File // of the clients; a file for the flock could be planted

	mu     sync.Mutex
	coming chan error // gets the answer of the goroutine that waits for the flock; nil if there is none
	wanted bool       // false when nobody takes the answer
}

func turnsIn(f *folder) *turns { return &turns{folder: f.self} }

// enter waits until it is the caller's turn, who then calls leave. It is called by one goroutine at a time.
func (q *turns) enter(ctx context.Context) error {
	if q == nil {
		return nil
	}
	coming := q.ask()
	if coming == nil {
		return nil
	}
	select {
	case err := <-coming:
		return err
	case <-ctx.Done():
		q.giveUp()
		return replies.GaveUp(ctx)
	}
}

// ask tries to get the flock at once, and otherwise has it waited for in the background.
func (q *turns) ask() (coming chan error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = true
	if q.coming == nil && q.flock(syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		q.coming = make(chan error, 1)
		go q.await(q.coming) // ends when the other processes have let go of the flock
	}
	return q.coming
}

// await waits for the flock, which cannot be interrupted. If nobody wants it any more, it lets go of it.
func (q *turns) await(coming chan error) {
	err := q.flock(syscall.LOCK_EX)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.coming = nil
	if q.wanted {
		coming <- err
	} else {
		q.leave()
	}
}

// giveUp lets go of the flock if it has come meanwhile; otherwise await does, when it comes.
func (q *turns) giveUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = false
	if q.coming == nil {
		q.leave()
	}
}

func (q *turns) leave() {
	if q != nil {
		_ = q.flock(syscall.LOCK_UN) // it cannot fail on a file that is open
	}
}

// flock calls flock(2) through the file's SyscallConn, so that nothing closes the file meanwhile.
func (q *turns) flock(how int) error {
	conn, err := q.folder.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(fd), how)
		}
	})
	return errors.Join(failed, err)
}
