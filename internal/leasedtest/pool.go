package leasedtest

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A Pool lends servers to tests that leave them running: to start one costs more than most tests do. A server is one
// test's at a time, and empty when that begins. Tests that stop servers, count what all of their clients do, or need
// other settings, start their own. A Pool is for packages whose tests [Main] runs, and for several goroutines.
type Pool struct {
	Start func(t testing.TB) *servers.Server
	Empty func(s *servers.Server) error // removes all that clients have made, which have left

	mu   sync.Mutex
	free []*servers.Server
}

// Lend returns a server that is the test's until it ends.
func (p *Pool) Lend(t testing.TB) *servers.Server {
	t.Helper()
	s := p.take()
	if s == nil {
		s = p.Start(Lasting(t))
	}
	t.Cleanup(func() { // after what closes the test's clients
		if err := p.Empty(s); err != nil {
			t.Errorf("the server is not empty again: %v", err)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, s)
	})
	return s
}

// take returns a server that nobody uses; nil if there is none.
func (p *Pool) take() (s *servers.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		s, p.free = p.free[last], p.free[:last]
	}
	return s
}

// Lasting stands for a test that makes something for others, too: what is started and made with it stays until [Main]
// ends all.
func Lasting(t testing.TB) testing.TB { return lasting{t} }

type lasting struct{ testing.TB }

func (lasting) Cleanup(f func()) {
	last.Lock()
	defer last.Unlock()
	last.cleanups = append(last.cleanups, f)
}

func (t lasting) TempDir() string {
	dir, err := os.MkdirTemp("", "holdfast")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Failed says no, because at the end there is no test any more to which a server's log could be told.
func (lasting) Failed() bool { return false }

// last is what Main does when all tests have ended.
var last struct {
	sync.Mutex
	cleanups []func()
}

func cleanUp() {
	last.Lock()
	defer last.Unlock()
	for _, f := range slices.Backward(last.cleanups) {
		f()
	}
}
