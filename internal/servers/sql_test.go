package servers_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// databases are the servers that answer SQL, and the programs that ask them.
var databases = []struct {
	name  string
	start func(testing.TB, ...string) *servers.Server
	more  []string
	shell []string // reads statements, and prints bare values
}{
	{
		"mariadb", servers.MariaDB, []string{"--max-connections=77"},
		[]string{"mariadb", "--no-defaults", "-h127.0.0.1", "-uroot", "-N", "-B", "-P%", "test"},
	},
	{
		"postgres", servers.Postgres, []string{"-c", "max_connections=77"},
		[]string{"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h127.0.0.1", "-Upostgres", "-p%",
			"postgres"},
	},
}

// shell runs statements and returns what they print.
func shell(t *testing.T, s *servers.Server, line []string, statements string) string {
	t.Helper()
	args := strings.Split(strings.ReplaceAll(strings.Join(line, "\n"), "%", s.Port()), "\n")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(statements)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", statements, err, out)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func TestDatabases(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			s := db.start(t, db.more...)
			pid := s.Pid
			shell(t, s, db.shell, "CREATE TABLE stock (n int); INSERT INTO stock VALUES (41); UPDATE stock SET n = n "+
				"+ 1;")
			s.Kill(t)
			s.Restart(t)
			if got := shell(t, s, db.shell, "SELECT n FROM stock"); got != "42" || s.Pid == pid {
				t.Errorf("after a crash process %d became %d, and the value is %q", pid, s.Pid, got)
			}
			s.Stop(t)
			s.RestartEmpty(t)
			if got := shell(t, s, db.shell, "CREATE TABLE stock (n int); SELECT count(*) FROM stock"); got != "0" {
				t.Errorf("after the loss of the disk there are %q rows", got)
			}
			if got := shell(t, s, db.shell, map[string]string{
				"mariadb":  "SELECT @@max_connections, @@innodb_flush_log_at_trx_commit",
				"postgres": "SELECT current_setting('max_connections'), current_setting('fsync')",
			}[db.name]); !strings.HasPrefix(got, "77") {
				t.Errorf("its settings are %q", got)
			}
		})
	}
}

// TestPauseStopsConnections is about servers that have a process for each connection.
func TestPauseStopsConnections(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			s := db.start(t)
			session := startSession(t, s, db.shell)
			session.answers(t, "SELECT 1;\n")
			s.Pause(t)
			session.say(t, "SELECT 2;\n")
			select {
			case line := <-session.lines:
				t.Fatalf("a paused server answers %q", line)
			case <-time.After(100 * time.Millisecond):
			}
			s.Resume(t)
			session.hears(t)
			session.answers(t, "SELECT 3;\n")
			s.Pause(t)
			s.Kill(t)
			if conn, err := net.Dial("tcp", s.Addr); err == nil {
				conn.Close()
				t.Error("somebody listens after the server was killed")
			}
		})
	}
}

// A session is a shell that stays connected.
type session struct {
	in    *os.File
	lines chan string
}

func startSession(t *testing.T, s *servers.Server, line []string) *session {
	t.Helper()
	args := strings.Split(strings.ReplaceAll(strings.Join(line, "\n"), "%", s.Port()), "\n")
	if args[0] == "mariadb" {
		args = append(args, "--unbuffered")
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 10)
	cmd.Stdin, cmd.Stdout = read, lineWriter(lines)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	t.Cleanup(func() {
		write.Close()
		_ = cmd.Wait() // its server is gone
	})
	return &session{write, lines}
}

// A lineWriter sends on what is written to it.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w <- string(bytes.TrimSpace(line))
	}
	return len(p), nil
}

func (s *session) say(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.in.WriteString(statement); err != nil {
		t.Fatal(err)
	}
}

func (s *session) hears(t *testing.T) {
	t.Helper()
	select {
	case <-s.lines:
	case <-time.After(time.Minute):
		t.Fatal("no answer")
	}
}

func (s *session) answers(t *testing.T, statement string) {
	t.Helper()
	s.say(t, statement)
	s.hears(t)
}

func TestFoldersOfOthers(t *testing.T) {
	s := servers.Postgres(t)
	isOfATest := func(dir string) bool { return strings.HasPrefix(filepath.Base(filepath.Dir(dir)), "Test") }
	for dir := filepath.Dir(s.Dir); isOfATest(dir); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o066 != 0 {
			t.Errorf("others see what is in %s: %v, %v", dir, info.Mode(), err)
		}
	}
}
