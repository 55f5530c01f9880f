package redislock_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A server that is replaced by one without its data, which shows in another run ID, has a holder told at once: its
// connections end with the server, and once the client listens again it asks about each claim, long before a renewal.
func TestHolderIsToldOfAnEmptyServer(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(*testing.T, *servers.Server, *proxy.Proxy){
		"restarted": func(t *testing.T, srv *servers.Server, _ *proxy.Proxy) {
			srv.Kill(t)
			srv.RestartEmpty(t)
		},
		"another behind the same address": func(t *testing.T, _ *servers.Server, p *proxy.Proxy) {
			p.Lead(servers.Redis(t).Addr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := servers.Redis(t)
			p, d := throughProxy(t, srv)
			held := acquire(t, d, claim("jobs", long))
			moved := make(chan struct{}, 100)
			stop, err := d.Listen(t.Context(), held, func() { moved <- struct{}{} })
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			request(t, d, held) // which names the channel, where that was not so
			for len(moved) > 0 {
				<-moved
			}
			before, err := d.Life(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			replace(t, srv, p)
			<-moved
			eventually(t, "the server answers", func() bool {
				_, err = d.Request(t.Context(), held)
				return driver.IsAnswer(err)
			})
			if !errors.Is(err, driver.ErrGone) {
				t.Errorf("a renewal at the empty server: %v, want ErrGone", err)
			}
			if after, err := d.Life(t.Context()); err != nil || after.ID == before.ID {
				t.Errorf("the life is %v, error %v; it was %v before", after, err, before)
			}
		})
	}
}
