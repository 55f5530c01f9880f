//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestOnSentinels(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	onGroup(t, "redis-sentinel://"+hosts(g.Sentinels)+"/"+g.Name)
}

func TestOnCluster(t *testing.T) {
	t.Parallel()
	onGroup(t, "redis-cluster://"+hosts(servers.RedisCluster(t).All()))
}

// onGroup runs the sessions that show how commands meet: at a lock, in a queue, and in the list of locks.
func onGroup(t *testing.T, url string) {
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/turns.txtar", "testdata/nowait.txtar", "testdata/verbs.txtar"},
		Setup: func(env *testscript.Env) error {
			prepare(env, url+"?prefix="+filepath.Base(env.WorkDir)+":")
			return nil
		},
		Condition: func(string) (bool, error) { return false, nil },
	})
}

func hosts(list []*servers.Server) string {
	var addrs []string
	for _, s := range list {
		addrs = append(addrs, s.Addr)
	}
	return strings.Join(addrs, ",")
}
