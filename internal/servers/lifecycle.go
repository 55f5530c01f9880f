package servers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

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

// Pause stops the server's processes until Resume. Connections stay, and new ones are still accepted, because the
// kernel does that; what clients send meanwhile is read after Resume.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if err := s.running(t).pause(); err != nil {
		t.Fatalf("pause %s: %v", s.kind.name, err)
	}
}

// Resume lets a paused server go on.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if err := s.running(t).resume(); err != nil {
		t.Fatalf("resume %s: %v", s.kind.name, err)
	}
}

// Restart runs a server again that was stopped or killed, at the same address with the same folder. What it still knows
// is the server's business: one that keeps nothing on disk comes back empty.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.mustBeStopped(t)
	s.run(t)
}

// RestartWith is [Server.Restart] with more arguments, in this run and all later ones. It is not for ZooKeeper, which
// reads a file.
func (s *Server) RestartWith(t testing.TB, more ...string) {
	t.Helper()
	usual := s.kind.args
	s.kind.args = func(s *Server) []string { return slices.Concat(usual(s), more) }
	s.Restart(t)
}

// RestartEmpty is Restart with an empty folder, as after the loss of a disk.
func (s *Server) RestartEmpty(t testing.TB) {
	t.Helper()
	s.mustBeStopped(t)
	inside, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range inside {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	s.fill(t)
	s.run(t)
}

func (s *Server) mustBeStopped(t testing.TB) {
	t.Helper()
	if s.proc != nil {
		t.Fatalf("%s runs; stop it first", s.kind.name)
	}
}

func (s *Server) running(t testing.TB) *process {
	t.Helper()
	if s.proc == nil {
		t.Fatalf("%s does not run", s.kind.name)
	}
	return s.proc
}

func (s *Server) end(t testing.TB, how func(*process) error) {
	t.Helper()
	proc := s.running(t)
	if err := how(proc); err != nil {
		t.Fatalf("end %s: %v", s.kind.name, err)
	}
	select {
	case <-proc.ended:
		s.proc, s.Pid = nil, 0
	case <-time.After(stopTime):
		t.Fatalf("%s has not ended after %v; is it paused?", s.kind.name, stopTime)
	}
}

// finish ends the server if it runs, paused or not.
func (s *Server) finish() {
	if s.proc == nil {
		return
	}
	_ = s.proc.kill() // it may have ended by itself
	<-s.proc.ended
	s.proc, s.Pid = nil, 0
}
