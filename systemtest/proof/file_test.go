package proof

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Who has locked a file for itself alone is found by its group, in both of the ways in which a file can be locked; who
// shares it with others, or has locked another one, is not.
func TestIsWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("this system does not tell who has locked what")
	}
	flock := func(how int) func() error { return func() error { return syscall.Flock(int(f.Fd()), how) } }
	part := func(how int16) func() error {
		return func() error {
			return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: how, Start: 120, Len: 1})
		}
	}
	for _, step := range []struct {
		what string
		do   func() error
		want bool
	}{
		{"flock, exclusive", flock(syscall.LOCK_EX), true},
		{"flock, shared", flock(syscall.LOCK_SH), false},
		{"flock, none", flock(syscall.LOCK_UN), false},
		{"a byte, exclusive", part(syscall.F_WRLCK), true},
		{"a byte, shared", part(syscall.F_RDLCK), false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := isWriting(syscall.Getpgrp(), []string{path}); got != step.want {
			t.Errorf("%s: %v, want %v", step.what, got, step.want)
		}
		if isWriting(syscall.Getpgrp()+1, []string{path}) {
			t.Errorf("%s: another group is said to write", step.what)
		}
		if isWriting(syscall.Getpgrp(), []string{filepath.Dir(path)}) {
			t.Errorf("%s: another file is said to be written", step.what)
		}
	}
}

// What holds up everybody is counted once, and what holds up one visitor is not counted.
func TestStoodStill(t *testing.T) {
	r := Record{Stalls: []Stall{
		{nobody, Span{3 * sec, 5 * sec}}, {nobody, Span{1 * sec, 2 * sec}}, {nobody, Span{4 * sec, 6 * sec}},
		{nobody, Span{4 * sec, 5 * sec}}, {2, Span{6 * sec, 9 * sec}},
	}}
	if got, want := r.StoodStill(), 4*sec; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A visitor who is stopped while it writes holds up everybody, and one who is stopped otherwise does not.
func TestStoppedWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("this system does not tell who has locked what")
	}
	for _, c := range []struct {
		what   string
		writes string // the file that the visitor has locked
		want   int
	}{
		{"it writes", path, 1},
		{"it does something else", path + "2", 0},
	} {
		cmd := exec.Command("flock", c.writes, "sh", "-c", "echo; cat")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		in, err := cmd.StdinPipe() // cat ends with it
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		crowd := &crowd{t: t, files: []string{path}, record: &Record{}}
		crowd.stop(&member{cmd: cmd})()
		if got := crowd.record.Stalls; len(got) != c.want {
			t.Errorf("%s: stalls %v, want %d", c.what, got, c.want)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
