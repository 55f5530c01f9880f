//go:build linux

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// The scripts of testdata/foreign are for Redis without a prefix, where another client has the lock "theirs" and lets
// it go by itself after a while that no test outlives, and where something else is stored for the lock "broken".
func TestBesideForeignLock(t *testing.T) {
	s := servers.Redis(t)
	s.RedisCommand(t, "SET", "theirs", "Uaq2D7U1yZ-secret-part", "PX", "3600000")
	s.RedisCommand(t, "SET", "{broken}:claims", "what no driver wrote")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/foreign",
		Setup: func(env *testscript.Env) error {
			prepare(env, "redis://"+s.Addr+"?prefix=")
			return nil
		},
	})
}
