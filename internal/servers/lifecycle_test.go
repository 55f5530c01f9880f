package servers_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// connect opens a connection that the server answers on.
func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	io.WriteString(conn, ping)
	mustAnswer(t, conn)
	return conn
}

const ping, pong = "PING\r\n", "+PONG\r\n"

func mustAnswer(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	answer := make([]byte, len(pong))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != pong {
		t.Fatalf("PING is answered with %q, %v", answer, err)
	}
}

func TestPause(t *testing.T) {
	s := servers.Redis(t)
	s.Pause(t)
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatalf("the kernel accepts for a paused server: %v", err)
	}
	defer conn.Close()
	io.WriteString(conn, ping)
	conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a paused server answers %d bytes, %v", n, err)
	}
	s.Resume(t) // and what was sent during the pause is read
	mustAnswer(t, conn)
}

func TestEndsWhilePaused(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		s := servers.Redis(t)
		s.Pause(t)
		s.Kill(t)
	})
	t.Run("forgotten", func(t *testing.T) { servers.Redis(t).Pause(t) })
}

// asChild is the variable that makes a test below play the process that is killed.
const asChild = "HOLDFAST_SERVERS_CHILD"

func again(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func TestLogIsShownWhenTheTestFails(t *testing.T) {
	s := servers.Redis(t)
	if os.Getenv(asChild) != "" {
		s.Kill(t)
		s.Restart(t)
		t.Fatal("as wanted")
	}
	out, _ := again(t, t.Name(), asChild+"=1").CombinedOutput()
	if got := strings.Count(string(out), "Ready to accept connections"); got != 2 {
		t.Errorf("of 2 runs it shows %d:\n%s", got, out)
	}
}

func TestMissing(t *testing.T) {
	const install = "apt-get install -y --no-install-recommends redis-server (or: make servers)"
	for _, row := range []struct {
		name, noSkip, extra string
		want                []string
	}{
		{"a plain test skips", "", "", []string{"--- SKIP: TestRedis ", install}},
		{"the gate fails", "1", "", []string{"--- FAIL: TestRedis ", install}},
		{"what is extra skips", "", "valkey-8.0", []string{"--- SKIP: TestRedis ", "make servers-extra"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			nowhere := []string{"PATH=", "XDG_CACHE_HOME=" + t.TempDir(), "HOLDFAST_NO_SKIP=" + row.noSkip,
				"HOLDFAST_EXTRA=" + row.extra}
			out, _ := again(t, "TestRedis", nowhere...).CombinedOutput()
			for _, want := range row.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("without a server it does not say %q:\n%s", want, out)
				}
			}
		})
	}
}
