package servers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A SentinelGroup is a Redis server with two replicas, and three sentinels of which two agree to replace it.
type SentinelGroup struct {
	Name      string // of the group, as sentinels know it
	Servers   []*Server
	Sentinels []*Server
}

// downAfter is how long, in ms, a server may be silent before sentinels take it for dead.
const downAfter = "500"

// RedisSentinel starts a group whose first server is the master. More arguments go to the servers, not to the
// sentinels. It returns when the sentinels know each other and both replicas, and so would replace a master that
// dies.
func RedisSentinel(t testing.TB, args ...string) *SentinelGroup {
	t.Helper()
	args = append([]string{"--repl-diskless-sync-delay", "0"}, args...)
	g := &SentinelGroup{Name: "holdfast"}
	for range 3 {
		g.Servers = append(g.Servers, Redis(t, args...))
	}
	for _, s := range g.Servers[1:] {
		s.Follow(t, g.Servers[0])
	}
	for range 3 {
		g.Sentinels = append(g.Sentinels, redisSentinel(t, g))
	}
	g.AwaitReplaceable(t)
	return g
}

// redisSentinel starts one sentinel. It looks more often than it would by itself, and forgives a busy machine sooner.
func redisSentinel(t testing.TB, g *SentinelGroup) *Server {
	t.Helper()
	program, install := redisProgram()
	s := start(t, kind{
		name:    "redis-sentinel",
		program: program,
		install: install,
		args: func(s *Server) []string {
			file := filepath.Join(s.Dir, "sentinel.conf")
			write(t, file, strings.Join([]string{
				"port " + s.Port(), "bind 127.0.0.1", "dir " + s.Dir,
				"sentinel monitor " + g.Name + " 127.0.0.1 " + g.Servers[0].Port() + " 2",
				"sentinel down-after-milliseconds " + g.Name + " " + downAfter,
				"sentinel failover-timeout " + g.Name + " 3000",
			}, "\n"))
			return []string{file, "--sentinel"}
		},
		ready: redisReady,
	})
	s.RedisCommand(t, "SENTINEL", "DEBUG", "PING-PERIOD", "200", "ASK-PERIOD", "200", "INFO-PERIOD", "500",
		"PUBLISH-PERIOD", "500", "TILT-PERIOD", "1000")
	return s
}

// Steady has the sentinels bear it when a server is silent for minutes, for tests in which none fails: on a busy
// machine one may be silent for longer than sentinels bear that are to notice a failure soon.
func (g *SentinelGroup) Steady(t testing.TB) {
	t.Helper()
	for _, s := range g.Sentinels {
		s.redisOK(t, "SENTINEL", "SET", g.Name, "down-after-milliseconds", "600000")
	}
}

// Follow makes a Redis server a replica of another, and returns when it has what that one has.
func (s *Server) Follow(t testing.TB, master *Server) {
	t.Helper()
	s.RedisCommand(t, "REPLICAOF", "127.0.0.1", master.Port())
	waitFor(t, "a replica follows its master", func(ctx context.Context) error {
		info, err := command(ctx, s.Addr, "INFO", "replication")
		if err == nil && !strings.Contains(info, "master_port:"+master.Port()+"\r\nmaster_link_status:up\r\n") {
			err = fmt.Errorf("it says\n%s", info)
		}
		return err
	})
}

// AwaitReplaceable waits until every sentinel that runs could replace the master: they agree which it is, know each
// other and two replicas that follow it.
func (g *SentinelGroup) AwaitReplaceable(t testing.TB) {
	t.Helper()
	waitFor(t, "sentinels know each other, the master and two replicas", func(ctx context.Context) error {
		masters := make(map[string]bool)
		for _, s := range g.Sentinels {
			if s.Pid == 0 {
				continue
			}
			if err := g.replaceable(ctx, s); err != nil {
				return err
			}
			addr, err := command(ctx, s.Addr, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", g.Name)
			if err != nil {
				return err
			}
			masters[addr] = true
		}
		if len(masters) != 1 {
			return fmt.Errorf("they name %v", masters)
		}
		return nil
	})
}

func (g *SentinelGroup) replaceable(ctx context.Context, sentinel *Server) error {
	quorum, err := command(ctx, sentinel.Addr, "SENTINEL", "CKQUORUM", g.Name)
	if err != nil || !strings.HasPrefix(quorum, "OK 3 ") {
		return fmt.Errorf("the quorum: %s, %w", quorum, err)
	}
	replicas, err := command(ctx, sentinel.Addr, "SENTINEL", "REPLICAS", g.Name)
	if err != nil {
		return err
	}
	well := 0 // each replica has two lines that say so
	lines := strings.Split(replicas, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		if field := lines[i] + " " + lines[i+1]; field == "flags slave" || field == "master-link-status ok" {
			well++
		}
	}
	if well != 2*2 {
		return fmt.Errorf("of its replicas it knows\n%s", replicas)
	}
	return nil
}

// Master returns the server that the sentinels call the master, when the majority of them agree that it is another than
// not, and when it says so itself. not may be nil.
func (g *SentinelGroup) Master(t testing.TB, not *Server) *Server {
	t.Helper()
	var master *Server
	waitFor(t, "sentinels name a master", func(ctx context.Context) (err error) {
		master, err = g.master(ctx, not)
		return err
	})
	return master
}

func (g *SentinelGroup) master(ctx context.Context, not *Server) (*Server, error) {
	votes := make(map[string]int)
	for _, sentinel := range g.Sentinels {
		if addr, err := command(ctx, sentinel.Addr, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", g.Name); err == nil {
			votes[strings.Replace(addr, "\n", ":", 1)]++
		}
	}
	for _, s := range g.Servers {
		if s == not || 2*votes[s.Addr] <= len(g.Sentinels) {
			continue
		}
		role, err := command(ctx, s.Addr, "ROLE")
		if err != nil || !strings.HasPrefix(role, "master") {
			return nil, fmt.Errorf("%s says of its role: %s, %w", s.Addr, role, err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("they name %v", votes)
}
