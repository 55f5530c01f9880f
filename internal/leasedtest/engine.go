// Package leasedtest is what the tests of drivers have in common whose engine leases by session: what tests do with a
// driver, and the tests that are the same for each engine, which an [Engine] tells apart.
package leasedtest

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// An Engine is what the tests of several drivers differ in.
type Engine struct {
	Server  func(t testing.TB) string                                 // the address of a server
	Cluster func(t testing.TB) []*servers.Server                      // three servers that elect a leader
	Leader  func(t *testing.T, cluster []*servers.Server) int         // the place of the one that leads
	Open    func(t testing.TB, addrs ...string) claimed.Driver        // closed with the test
	Format  func(t testing.TB, addr string, later int) claimed.Driver // the same, and writes so much later a format
	Outlast time.Duration                                             // a TTL that outlasts an election
	Cut     time.Duration                                             // a TTL for clients that are cut off
	Late    time.Duration                                             // how long after the cut the next has the lock
}

// proxies stand before each of the servers.
func proxies(t testing.TB, addrs []string) (list []*proxy.Proxy, through []string) {
	for _, addr := range addrs {
		p := proxy.New(t, addr)
		list, through = append(list, p), append(through, p.Addr)
	}
	return list, through
}

// warm returns a client whose lease is there: beginning one may take longer than such a TTL while others begin
// theirs.
func warm(t testing.TB, d claimed.Driver, ttl time.Duration) *holdfast.Client {
	t.Helper()
	c := claimed.Mutex("warm up", ttl)
	c.Queue = false
	Until(t, "the lease is there", func() bool { _, err := d.Request(Limit(t), c); return err == nil })
	d.Release(Limit(t), c) // or it was not granted
	return holdfast.New(d)
}

// Run runs the tests that need nothing of an engine but what an [Engine] says, each as a part of this one.
func Run(t *testing.T, e Engine) {
	for name, test := range map[string]func(*testing.T, Engine){
		"LeaderCrash":            paced(leaderCrash),
		"HolderKnowsFirst":       holdersKnowFirst,
		"WaiterDiesInTheMiddle":  waiterDiesInTheMiddle,
		"UnrenewedBesideRenewed": paced(unrenewedBesideRenewed),
		"Turns":                  turns,
		"OtherVersion":           otherVersion,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

func paced(test func(*pace.T, Engine)) func(*testing.T, Engine) {
	return func(t *testing.T, e Engine) {
		pace.Run(t, "paced", func(t *pace.T) { test(t, e) })
	}
}
