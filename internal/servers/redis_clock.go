package servers

import "testing"

// RedisAt is [Redis] with a wall clock of its own.
func RedisAt(t testing.TB, clock *Clock, args ...string) *Server {
	t.Helper()
	return start(t, onClock(t, redisKind(args), clock))
}
