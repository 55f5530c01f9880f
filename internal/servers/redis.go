package servers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Redis starts a redis-server that keeps nothing on disk. More arguments, like "--maxmemory", "3mb", go to the server;
// with "--appendonly", "yes" it remembers what it knew when it restarts. It may be Valkey, as for sentinels and
// clusters.
func Redis(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, redisKind(args))
}

func redisKind(args []string) kind {
	program, install := redisProgram()
	return kind{
		name:    "redis",
		program: program,
		install: install,
		args:    func(s *Server) []string { return slices.Concat(redisArgs(s), args) },
		ready:   redisReady,
	}
}

func redisArgs(s *Server) []string {
	args := []string{
		"--port", s.Port(), "--bind", "127.0.0.1", "--dir", s.Dir,
		"--save", "", "--appendonly", "no",
	}
	if v, ok := inPlaceOf(redis); ok && v.Standing == Refused {
		return args // before 7
	}
	return append(args, "--shutdown-timeout", "0")
}

// redisProgram is the server, and what installs it.
func redisProgram() (program, install string) {
	for _, engine := range []string{redis, valkey} {
		if v, ok := inPlaceOf(engine); ok {
			return v.path(v.program), installExtra
		}
	}
	return "redis-server", "apt-get install -y --no-install-recommends redis-server"
}

// redisReady asks whether it is our server that answers, and not one that had the port before.
func redisReady(ctx context.Context, s *Server) error {
	switch answer, err := command(ctx, s.Addr, "PING"); {
	case err != nil:
		return err
	case strings.HasPrefix(answer, "NOAUTH"):
		return nil
	case answer != "PONG":
		return fmt.Errorf("it answers %q", answer)
	}
	info, err := command(ctx, s.Addr, "INFO", "server")
	if err == nil && !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", s.Pid)) {
		err = fmt.Errorf("another server answers at %s", s.Addr)
	}
	return err
}

// RedisCommand sends one command to a Redis server over a connection of its own and returns the answer as text: arrays
// one element a line.
func (s *Server) RedisCommand(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	answer, err := command(ctx, s.Addr, args...)
	if err != nil {
		t.Fatalf("redis %q: %v", args, err)
	}
	return answer
}

// command speaks as much of Redis's protocol as tests need: redis.io/docs/latest/develop/reference/protocol-spec.
func command(ctx context.Context, addr string, args ...string) (string, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	var request strings.Builder
	fmt.Fprintf(&request, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(conn, request.String()); err != nil {
		return "", err
	}
	return answer(bufio.NewReader(conn))
}

func answer(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil || len(line) < 3 {
		return "", fmt.Errorf("short answer %q: %w", line, err)
	}
	head, body := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch n, _ := strconv.Atoi(body); {
	case head == '$' && n >= 0:
		text := make([]byte, n+2)
		_, err := io.ReadFull(r, text)
		return string(text[:n]), err
	case head == '*':
		var lines []string
		for range n {
			one, err := answer(r)
			if err != nil {
				return "", err
			}
			lines = append(lines, one)
		}
		return strings.Join(lines, "\n"), nil
	default:
		return body, nil
	}
}

// RedisAt is [Redis] with a wall clock of its own.
func RedisAt(t testing.TB, clock *Clock, args ...string) *Server {
	t.Helper()
	return start(t, onClock(t, redisKind(args), clock))
}
