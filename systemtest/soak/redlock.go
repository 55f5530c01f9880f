package soak

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/quorum" // the scheme redlock
)

// A redlock is three Redis servers that vote. What happens, happens to the first: the others are a majority.
type redlock struct{ servers []*redis }

// Redlock starts three servers that write down what they know.
func Redlock(t testing.TB) Store {
	var all redlock
	for range 3 {
		all.servers = append(all.servers, &redis{startRedis(t)})
	}
	return &all
}

func (r *redlock) Name() string { return "Redlock" }

func (r *redlock) Open(t testing.TB) *drivertest.Facade {
	var addrs []string
	for _, s := range r.servers {
		addrs = append(addrs, s.server.Addr)
	}
	// Nobody has been granted anything before; and who restarts has its data.
	return open(t, "redlock://"+strings.Join(addrs, ",")+"?maxttl=1h&unsafefresh=true")
}

func (r *redlock) Size(t testing.TB) (size int64) {
	for _, s := range r.servers {
		size += s.Size(t)
	}
	return size
}

func (r *redlock) Mishaps() []Mishap {
	first := r.servers[0]
	return []Mishap{
		{Name: "crash and restart of one", Do: first.crash},
		{Name: "one does not answer", Do: func(t testing.TB) func() { return paused(t, first.server) }},
		{Name: "full pool of one", Do: first.fillPool},
	}
}

// paused stops a server's process until end.
func paused(t testing.TB, s *servers.Server) (end func()) {
	s.Pause(t)
	return func() { s.Resume(t) }
}
