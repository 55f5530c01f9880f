package servers

import (
	"os/exec"
	"slices"
	"testing"
)

// RedisAt is [Redis] with a wall clock of its own.
func RedisAt(t testing.TB, clock *Clock, args ...string) *Server {
	t.Helper()
	program, install := redisProgram()
	path, err := exec.LookPath(program)
	Require(t, err == nil, program, install)
	return start(t, kind{
		name:    "redis",
		program: "env",
		args: func(s *Server) []string {
			return slices.Concat(clock.env(), []string{path}, redisArgs(s), args)
		},
		ready: redisReady,
	})
}
