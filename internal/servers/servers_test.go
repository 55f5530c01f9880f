package servers_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestRedis(t *testing.T) {
	s := servers.Redis(t)
	if got := s.RedisCommand(t, "SET", "k", "v"); got != "OK" {
		t.Fatalf("SET answers %q", got)
	}
	if got := s.RedisCommand(t, "MGET", "k", "k"); got != "v\nv" {
		t.Errorf("MGET answers %q", got)
	}
	addr := s.Addr
	for name, end := range map[string]func(testing.TB){"stop": s.Stop, "kill": s.Kill} {
		end(t)
		if s.Pid != 0 {
			t.Errorf("%s: pid is still %d", name, s.Pid)
		}
		s.Restart(t)
		if s.Addr != addr {
			t.Errorf("%s: it came back at %s, was at %s", name, s.Addr, addr)
		}
		if got := s.RedisCommand(t, "GET", "k"); got != "-1" {
			t.Errorf("%s: it came back with %q", name, got)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	s := servers.Redis(t)
	s.Pause(t)
	s.Resume(t)
	if got := s.RedisCommand(t, "PING"); got != "PONG" {
		t.Errorf("it answers %q", got)
	}
}
