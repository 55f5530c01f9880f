// Package servers starts real servers for tests, as child processes on free loopback ports with folders of their own.
// They end with the test, or with the test's process however that ends.
package servers

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// mustRun is the variable under which a missing server fails a test instead of skipping it: tests that never run prove
// nothing.
const mustRun = "HOLDFAST_NO_SKIP"

// startTime is how long a server may take until it answers, and stopTime until it has ended: as long as no busy machine
// takes, because these only end what hangs.
const startTime, stopTime = 4 * time.Minute, 4 * time.Minute

// A Server is a server that a test may stop, break and start again. Its methods fail the test when they cannot do what
// they say. They are for one goroutine at a time; clients may talk to the server meanwhile.
type Server struct {
	Addr string // host:port; the same for all its runs
	Pid  int    // zero while it does not run
	Dir  string // its folder

	kind kind
	proc *process
	log  string // the file that all its runs write to
}

// A kind tells how to run one sort of server.
type kind struct {
	name    string
	install string                                     // the command that installs it
	program string                                     // what to run
	args    func(s *Server) []string                   // for its address and folder
	ready   func(ctx context.Context, s *Server) error // nil when it answers
	// commands that fill an empty folder; nil if it does that by itself
	prepare func(s *Server) [][]string
	alike   bool              // they make the same of the folder "data" each time, and of no other
	user    string            // whom it runs as; empty for our own account
	stop    os.Signal         // what asks it to end; nil for the usual
	publish func(addr string) // makes it reachable at its address; nil where it listens there
}

// start runs a server until the test ends.
func start(t testing.TB, k kind) *Server {
	t.Helper()
	program, err := exec.LookPath(k.program)
	if err != nil {
		Require(t, false, k.program, k.install)
	}
	k.program = program
	dir := folder(t, k.name)
	if k.user != "" {
		if err := openTo(k.user, dir); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
	}
	s := &Server{Addr: FreeAddr(t), Dir: dir, kind: k, log: dir + ".log"}
	t.Cleanup(func() {
		s.finish()
		if t.Failed() {
			t.Logf("%s at %s said:\n%s", k.name, s.Addr, s.said())
		}
	})
	if k.publish != nil {
		k.publish(s.Addr)
	}
	s.fill(t)
	s.run(t)
	return s
}

// fill puts into the empty folder what the server must find there. What takes long to make is made once: whatever is
// wrong with what was kept, it is made again.
func (s *Server) fill(t testing.TB) {
	t.Helper()
	if s.kind.prepare == nil {
		return
	}
	lines := s.kind.prepare(s)
	kept := s.keptAt(lines)
	if kept == "" {
		s.prepare(t, lines)
		return
	}
	if s.unpack(kept) == nil {
		return
	}
	s.prepare(t, lines)
	if err := s.keep(kept); err != nil {
		t.Logf("what %s begins with is not kept: %v", s.kind.name, err)
	}
}

// prepare runs the commands that fill the empty folder.
func (s *Server) prepare(t testing.TB, lines [][]string) {
	t.Helper()
	for _, line := range lines {
		if _, err := exec.LookPath(line[0]); err != nil {
			Require(t, false, line[0], s.kind.install)
		}
		proc, err := launch(s.job(line[0], line[1:]))
		if err != nil {
			t.Fatalf("prepare %s: %v", s.kind.name, err)
		}
		<-proc.ended
		if !proc.succeeded() {
			t.Fatalf("prepare %s: %s has failed", s.kind.name, line[0])
		}
	}
}

func (s *Server) job(program string, args []string) job {
	return job{program: program, args: args, dir: s.Dir, log: s.log, user: s.kind.user, stop: s.kind.stop}
}

// run starts the process and waits until the server answers.
func (s *Server) run(t testing.TB) {
	t.Helper()
	proc, err := launch(s.job(s.kind.program, s.kind.args(s)))
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
			t.Fatalf("%s ended while it started", s.kind.name)
		case <-ctx.Done():
			t.Fatalf("%s did not answer in %v: %v", s.kind.name, startTime, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Port returns the port of the address.
func (s *Server) Port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// Log returns all that the server has logged so far.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// said is the end of what the server logged.
func (s *Server) said() []byte {
	const enough = 8000
	log, err := os.ReadFile(s.log)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-enough):]
}
