package redlock

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// One server under several names has one vote. A quorum of such names is refused where it is opened.
func TestOneServerUnderSeveralNamesIsRefused(t *testing.T) {
	one, other := servers.Redis(t), servers.Redis(t)
	_, port, err := net.SplitHostPort(one.Addr)
	if err != nil {
		t.Fatal(err)
	}
	alias := net.JoinHostPort("localhost", port)
	late := 0
	for name, addrs := range map[string][]string{
		"three names":            {alias, one.Addr, proxy.New(t, one.Addr).Addr},
		"two of three":           {alias, other.Addr, one.Addr},
		"two of five, two away":  {alias, closed(t), other.Addr, closed(t), one.Addr},
		"two of three by proxy":  {one.Addr, other.Addr, proxy.New(t, one.Addr).Addr},
		"the same name, twice":   {one.Addr, other.Addr, one.Addr},
		"proxies before the one": {proxy.New(t, one.Addr).Addr, proxy.New(t, one.Addr).Addr, other.Addr},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := drivertest.Open(t.Context(), "redlock://"+strings.Join(addrs, ","))
			if err == nil { // the last of the names answered late, which a busy machine may bring about
				defer d.Close()
				late++
				tells := func() bool { return tellsTwins(t, d) }
				eventually(t, "an examination tells that a server has two names", tells)
				return
			}
			if told := err.Error(); !strings.Contains(told, "one server") && !strings.Contains(told, "twice") {
				t.Errorf("the error does not say that a server has two names: %v", err)
			}
		})
	}
	if late > 2 {
		t.Errorf("%d of 6 were opened", late)
	}
}

func tellsTwins(t *testing.T, d *drivertest.Facade) bool {
	findings, _ := driver.Check(t.Context(), d, false) // also of servers that are away
	return slices.ContainsFunc(findings, func(f driver.Finding) bool {
		return f.Level == driver.Unsafe && (strings.Contains(f.Fact, "one server") || strings.Contains(f.Fact, "twice"))
	})
}

// closed returns an address where nobody listens.
func closed(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A name may lead to another server some day. When that is one that votes already, its vote does not count twice, and a
// claim is not renewed by it alone.
func TestNameThatLeadsToAnotherServer(t *testing.T) {
	t.Parallel()
	c := start(t, 3, ttl)
	url, proxies := c.behind(t)
	d := open(t, url)
	held := claim("jobs", ttl)
	held = acquire(t, d, held)
	proxies[0].Lead(c.servers[2].Addr)
	c.servers[1].Pause(t)
	eventually(t, "the renewal says that two names are one server", func() bool { // once that is connected to again
		st, err := d.Request(context.Background(), held)
		if err == nil && st.Granted {
			t.Fatal("the claim is renewed by one server of three")
		}
		return err != nil && strings.Contains(err.Error(), "one server")
	})
	st, err := d.Request(t.Context(), try(claim("others", ttl)))
	if err == nil || st.Granted || !strings.Contains(err.Error(), "one server") {
		t.Errorf("one server of three granted a lock: %+v, %v", st, err)
	}
}
