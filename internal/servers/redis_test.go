package servers_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func redis(t *testing.T, s *servers.Server, want string, args ...string) {
	t.Helper()
	if got := s.RedisCommand(t, args...); got != want {
		t.Errorf("%q answers %q, want %q", args, got, want)
	}
}

func TestRedis(t *testing.T) {
	s := servers.Redis(t, "--maxmemory", "3mb")
	redis(t, s, "OK", "SET", "k", "v")
	redis(t, s, "v\nv", "MGET", "k", "k")
	redis(t, s, "maxmemory\n3145728", "CONFIG", "GET", "maxmemory")
}

func TestRedisWithPassword(t *testing.T) {
	s := servers.Redis(t, "--requirepass", "secret")
	redis(t, s, "NOAUTH Authentication required.", "GET", "k")
}

const nothing = "-1"

var keeps = []string{"--appendonly", "yes", "--appendfsync", "always"}

// restartToKeep has the server keep what it is told, and crash after that.
func restartToKeep(s *servers.Server, t testing.TB) {
	s.RestartWith(t, keeps...)
	s.RedisCommand(t, "SET", "k", "v")
	s.Kill(t)
	s.Restart(t)
}

func TestRestart(t *testing.T) {
	for _, row := range []struct {
		name    string
		args    []string
		end     func(*servers.Server, testing.TB)
		restart func(*servers.Server, testing.TB)
		want    string
	}{
		{"memory is lost with a stop", nil, (*servers.Server).Stop, (*servers.Server).Restart, nothing},
		{"memory is lost with a crash", nil, (*servers.Server).Kill, (*servers.Server).Restart, nothing},
		{"a disk is not", keeps, (*servers.Server).Kill, (*servers.Server).Restart, "v"},
		{"arguments that were added stay", nil, (*servers.Server).Stop, restartToKeep, "v"},
		{"unless it is lost too", keeps, (*servers.Server).Kill, (*servers.Server).RestartEmpty, nothing},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := servers.Redis(t, row.args...)
			redis(t, s, "OK", "SET", "k", "v")
			addr, pid := s.Addr, s.Pid
			row.end(s, t)
			if s.Pid != 0 {
				t.Errorf("it has ended, and its pid is %d", s.Pid)
			}
			row.restart(s, t)
			if s.Addr != addr || s.Pid == pid || s.Pid == 0 {
				t.Errorf("process %d at %s came back as %d at %s", pid, addr, s.Pid, s.Addr)
			}
			redis(t, s, row.want, "GET", "k")
		})
	}
}

// A server with a clock of its own sees it change at once, in both directions.
func TestClock(t *testing.T) {
	clock := servers.NewClock(t)
	s := servers.RedisAt(t, clock)
	for _, ahead := range []time.Duration{0, time.Minute, -time.Minute} {
		clock.Set(t, ahead)
		before := time.Now().Unix()
		seconds, _, _ := strings.Cut(s.RedisCommand(t, "TIME"), "\n")
		after := time.Now().Unix()
		got, err := strconv.ParseInt(seconds, 10, 64)
		shift := int64(ahead / time.Second)
		if err != nil || got < before+shift || got > after+shift {
			t.Errorf("the server says it is %s, which should be from %d to %d; %v", seconds, before+shift,
				after+shift, err)
		}
	}
	clock.Set(t, time.Minute)
	s.RedisCommand(t, "SET", "key", "value", "PX", "30000")
	clock.Set(t, 2*time.Minute)
	if got := s.RedisCommand(t, "EXISTS", "key"); got != "0" {
		t.Errorf("a key of 30 s lives on a minute later: %s", got)
	}
}
