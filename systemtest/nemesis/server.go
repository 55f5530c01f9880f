package nemesis

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// always is the server that a fault of a store's only server befalls.
func always(s *servers.Server) func(testing.TB) *servers.Server {
	return func(testing.TB) *servers.Server { return s }
}

// kill crashes a server, which starts again with what it wrote.
func kill(name string, harm Harm, which func(testing.TB) *servers.Server) Fault {
	return Fault{Name: name, Harm: harm, Begin: func(t testing.TB) func() {
		s := which(t)
		s.Kill(t)
		return func() { s.Restart(t) }
	}}
}

// pause stops a server's processes for a while.
func pause(name string, harm Harm, which func(testing.TB) *servers.Server) Fault {
	return Fault{Name: name, Harm: harm, Begin: func(t testing.TB) func() {
		s := which(t)
		s.Pause(t)
		return func() { s.Resume(t) }
	}}
}

// empty crashes a server, which starts again with nothing.
func empty(harm Harm, s *servers.Server) Fault {
	return Fault{Name: Empty, Harm: harm, Begin: func(t testing.TB) func() {
		s.Kill(t)
		return func() { s.RestartEmpty(t) }
	}}
}

// atOnce is a fault of several servers at the same time.
func atOnce(harm Harm, faults []Fault) Fault {
	return Fault{Name: faults[0].Name, Harm: harm, Begin: func(t testing.TB) func() {
		var ends []func()
		for _, f := range faults {
			ends = append(ends, f.Begin(t))
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}
	}}
}

// anew is a fault after which tokens begin anew.
func anew(f Fault) Fault {
	f.Anew = true
	return f
}

// young is a fault that may cost a grant that few servers know of yet.
func young(f Fault) Fault {
	f.Young = true
	return f
}

// A clock is one that somebody sets again and again.
type clock struct {
	*servers.Clock
	ahead time.Duration
	most  time.Duration // that it ever was ahead
}

func newClock(t testing.TB) *clock { return &clock{Clock: servers.NewClock(t)} }

// forward and back set a server's clock by an hour. It stays so: to set it right would be the other fault.
func (c *clock) forward(harm Harm) Fault { return c.step(ClockForward, harm, time.Hour) }
func (c *clock) back(harm Harm) Fault    { return c.step(ClockBack, harm, -time.Hour) }

// righted is a fault that makes a server forget its tokens, before which the clock is set to the latest that it ever
// showed: the docs ask for a clock that is not behind then.
func (c *clock) righted(f Fault) Fault {
	begin := f.Begin
	f.Forgets = true
	f.Begin = func(t testing.TB) func() {
		c.ahead = c.most
		c.Set(t, c.ahead)
		return begin(t)
	}
	return f
}

func (c *clock) step(name string, harm Harm, by time.Duration) Fault {
	return Fault{Name: name, Harm: harm, Begin: func(t testing.TB) func() {
		c.ahead += by
		c.most = max(c.most, c.ahead)
		c.Set(t, c.ahead)
		return func() {}
	}}
}

// addrs are the addresses of servers.
func addrs(all ...*servers.Server) (addrs []string) {
	for _, s := range all {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}
