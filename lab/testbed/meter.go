package testbed

import (
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// A Meter tells how many requests have gone to a backend; ok is false where nobody counts them.
type Meter func() (requests int64, ok bool)

// Counted starts the backend behind proxies that count requests. They cost a little time for each.
func (b Backend) Counted(t testing.TB) (rawURL string, meter Meter) {
	rawURL = b.Start(t)
	if b.protocol == nil {
		return rawURL, func() (int64, bool) { return 0, false }
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	var counters []*wire.Counter
	var hosts []string
	for host := range strings.SplitSeq(u.Host, ",") {
		c := counterFor(t, host, b.protocol)
		counters, hosts = append(counters, c), append(hosts, c.Addr())
	}
	u.Host = strings.Join(hosts, ",")
	return u.String(), func() (total int64, ok bool) {
		for _, c := range counters {
			total += c.Count().Requests
		}
		return total, true
	}
}

func counterFor(t testing.TB, host string, protocol wire.Protocol) *wire.Counter {
	c, err := wire.Listen(host, protocol)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
