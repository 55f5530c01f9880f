package servers

import (
	_ "embed"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

//go:embed clock/clock.c
var clockSource []byte

// A Clock is a wall clock that one server has for itself. At first it is right.
type Clock struct {
	library string // what the server preloads
	file    string // where it finds by how many seconds the clock is ahead
}

// NewClock makes a clock for a server that is written in C.
func NewClock(t testing.TB) *Clock {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	Require(t, err == nil, "gcc", "apt-get install -y --no-install-recommends gcc libc6-dev")
	dir := t.TempDir()
	c := &Clock{library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "ahead")}
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Set(t, 0)
	compile := exec.CommandContext(t.Context(), gcc, "-O2", "-shared", "-fPIC", "-o", c.library, source)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return c
}

// Set sets by how much the clock is ahead, in whole seconds: behind, if negative.
func (c *Clock) Set(t testing.TB, ahead time.Duration) {
	t.Helper()
	seconds := binary.NativeEndian.AppendUint64(nil, uint64(int64(ahead/time.Second)))
	f, err := os.OpenFile(c.file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(seconds, 0); err != nil { // in place: the server has the file in its memory
		t.Fatal(err)
	}
}

// onClock returns the kind of server that runs as this one does, with a wall clock of its own.
func onClock(t testing.TB, k kind, clock *Clock) kind {
	t.Helper()
	path, err := exec.LookPath(k.program)
	Require(t, err == nil, k.program, k.install)
	if k.user != "" {
		if err := openTo(k.user, filepath.Dir(clock.file)); err != nil {
			t.Fatal(err)
		}
	}
	usual := k.args
	k.program = "env"
	k.args = func(s *Server) []string { return slices.Concat(clock.env(), []string{path}, usual(s)) }
	return k
}

// env are the first arguments of env(1) for the server.
func (c *Clock) env() []string { return []string{"LD_PRELOAD=" + c.library, "CLOCK=" + c.file} }
