// Package servers starts real servers for tests, as child processes on free loopback ports with folders of their own.
// They end with the test, or with the test's process however that ends.
package servers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// mustRun is the variable under which a missing server fails a test instead of skipping it: tests that never run prove
// nothing.
const mustRun = "HOLDFAST_NO_SKIP"

// startTime is how long a server may take until it answers, on a busy machine.
const startTime = 60 * time.Second

// A Server is a running server.
type Server struct {
	Addr string // host:port
	Pid  int    // zero while it does not run
	Dir  string // its folder

	kind kind
	proc *process
	log  *bytes.Buffer // of all its runs; read it only when none goes on
}

// A kind tells how to run one sort of server.
type kind struct {
	name    string
	install string                                     // the command that installs it
	program string                                     // what to run
	args    func(s *Server) []string                   // for its address and folder
	ready   func(ctx context.Context, s *Server) error // nil when it answers
}

// start runs a server until the test ends.
func start(t testing.TB, k kind) *Server {
	t.Helper()
	program, err := exec.LookPath(k.program)
	if err != nil {
		missing(t, k)
	}
	k.program = program
	s := &Server{Addr: freeAddr(t), Dir: folder(t, k.name), kind: k, log: new(bytes.Buffer)}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("%s at %s said:\n%s", k.name, s.Addr, tail(s.log.Bytes(), 4000))
		}
	})
	s.run(t)
	return s
}

// missing skips the test, or fails it where nothing may be skipped.
func missing(t testing.TB, k kind) {
	t.Helper()
	reason := fmt.Sprintf("%s is not installed; install it with: %s (or: make servers)", k.program, k.install)
	if os.Getenv(mustRun) != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// run starts the process and waits until the server answers.
func (s *Server) run(t testing.TB) {
	t.Helper()
	proc, err := launch(s.kind.program, s.kind.args(s), s.Dir, s.log)
	if err != nil {
		t.Fatalf("start %s: %v", s.kind.name, err)
	}
	s.proc, s.Pid = proc, proc.pid
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		attempt, done := context.WithTimeout(ctx, time.Second)
		err = s.kind.ready(attempt, s)
		done()
		if err == nil {
			return
		}
		select {
		case <-proc.ended:
			t.Fatalf("%s ended while it started:\n%s", s.kind.name, tail(s.log.Bytes(), 4000))
		case <-ctx.Done():
			t.Fatalf("%s did not answer in %v: %v", s.kind.name, startTime, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop ends the server as an administrator would, and waits until it has ended.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.end(t, (*process).terminate)
}

// Kill ends the server as a crash would, and waits until it has ended.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.end(t, (*process).kill)
}

func (s *Server) end(t testing.TB, how func(*process) error) {
	t.Helper()
	if s.proc == nil {
		t.Fatalf("%s does not run", s.kind.name)
	}
	if err := how(s.proc); err != nil {
		t.Fatalf("end %s: %v", s.kind.name, err)
	}
	<-s.proc.ended
	s.proc, s.Pid = nil, 0
}

// stop ends the server if it runs.
func (s *Server) stop() {
	if s.proc != nil {
		s.proc.kill()
		<-s.proc.ended
		s.proc, s.Pid = nil, 0
	}
}

// Restart runs a server again that was stopped or killed, at the same address with the same folder.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if s.proc != nil {
		t.Fatalf("%s runs; stop it first", s.kind.name)
	}
	s.run(t)
}

// Pause stops the server's process until Resume. It still accepts connections, since the kernel does.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if err := s.proc.pause(); err != nil {
		t.Fatal(err)
	}
}

// Resume lets a paused server go on.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if err := s.proc.resume(); err != nil {
		t.Fatal(err)
	}
}

// Port returns the port of the address.
func (s *Server) Port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// freeAddr returns a loopback address that nobody uses. Ports stay below 50000, since some servers add to theirs.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().(*net.TCPAddr)
		l.Close()
		if addr.Port < 50000 {
			return net.JoinHostPort("127.0.0.1", strconv.Itoa(addr.Port))
		}
	}
	t.Fatal("found no free port below 50000")
	return ""
}

// folder makes an empty folder that is removed with the test.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tail returns the last n bytes.
func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
