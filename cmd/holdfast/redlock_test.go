//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Who uses servers that were just started is told for how long they give out nothing, and how to do without that. It is
// not parallel, as its script would begin when the servers are no longer new.
func TestOnNewRedlock(t *testing.T) {
	var addrs []string
	for range 3 {
		addrs = append(addrs, servers.Redis(t).Addr)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/newredlock",
		Setup: func(env *testscript.Env) error {
			prepare(env, "redlock://"+strings.Join(addrs, ","))
			return nil
		},
	})
}

// The scripts of testdata/redlock are for a quorum of three servers, of which one is down.
func TestOnRedlock(t *testing.T) {
	t.Parallel()
	var addrs []string
	for range 3 {
		s := servers.Redis(t)
		addrs = append(addrs, s.Addr)
		if len(addrs) == 3 {
			s.Kill(t)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/redlock",
		Setup: func(env *testscript.Env) error {
			prepare(env, "redlock://"+strings.Join(addrs, ",")+"?maxttl=10s")
			env.Setenv("ONE", addrs[0])
			return nil
		},
	})
}
