package redislock_test

import (
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A URL for one server that leads to a node of a cluster works for some names. The examination says so each time,
// whichever name was tried.
func TestCheckOfClusterNode(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	for _, master := range c.Masters {
		for range 2 {
			findings, err := driver.Check(t.Context(), openAny(t, "redis://"+master.Addr), false)
			unsafe := facts(findings, driver.Unsafe)
			if err != nil || !strings.Contains(unsafe, "a node of a cluster") {
				t.Errorf("unsafe is %q, error %v", unsafe, err)
			}
		}
	}
	findings, err := driver.Check(t.Context(), openAny(t, "redis-cluster://"+addrs(c.Masters)), false)
	if unsafe := facts(findings, driver.Unsafe); err != nil || unsafe != "" {
		t.Errorf("through a URL for the cluster, unsafe is %q, error %v", unsafe, err)
	}
}

// Where one side speaks TLS and the other does not, the error says so.
func TestOneSidedTLS(t *testing.T) {
	closes := listen(t, func(c net.Conn) { c.Close() })
	silent := listen(t, func(net.Conn) {})
	for url, want := range map[string]string{
		"redis://" + closes:                            "if it expects TLS, use rediss://",
		"rediss://" + closes:                           "does not speak TLS there",
		"rediss://" + silent + "?connecttimeout=100ms": "a server without TLS is silent, too",
	} {
		_, err := drivertest.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}
