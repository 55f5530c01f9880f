package servertables

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// errStuck says that somebody else has a row locked for long. Nothing was done.
var errStuck = errors.New("somebody else has locked its row for long")

// atLock lets f do what is about a lock. Where somebody else has its row locked for long, f goes on over connections of which
// nobody expects more: those of the requests are for the other locks. In turns with others that are stuck it asks until ctx ends.
func atLock[T any](ctx context.Context, d *Driver, name string, f func(context.Context, *lane) (T, error)) (T, error) {
	at := spot{name: name}
	if !d.stuck.has(name) {
		v, err := attempt(ctx, d.requests, at, f)
		if !errors.Is(err, errStuck) {
			return v, err
		}
		d.stuck.add(name)
	}
	v, err := run(ctx, d.delayed, at, f)
	if errors.Is(err, errNoRoom) {
		v, err = run(ctx, d.requests, at, f)
	}
	if err == nil || errors.Is(err, driver.ErrGone) {
		d.stuck.remove(name)
	}
	return v, err
}

// stuck are the locks whose rows somebody else had locked a moment ago.
type stuck struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	stuckTime = 10 * time.Second // for which they are taken for stuck without another look
	stuckMost = 1024             // of which so much is known
)

func (s *stuck) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until[name])
}

func (s *stuck) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil || len(s.until) >= stuckMost {
		s.until = make(map[string]time.Time)
	}
	s.until[name] = time.Now().Add(stuckTime)
}

func (s *stuck) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.until, name)
}
