//go:build unix

package locked

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Who has locked a file for itself alone is found by its process, in both of the ways in which a file can be locked;
// who shares it with others, or has locked another one, is not.
func TestBy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("this system does not tell who has locked what")
	}
	self := func(pid int) bool { return pid == os.Getpid() }
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
		if got := By(self, path); got != step.want {
			t.Errorf("%s: %v, want %v", step.what, got, step.want)
		}
		if By(func(pid int) bool { return !self(pid) }, path) {
			t.Errorf("%s: another process is said to write", step.what)
		}
		if By(self, filepath.Dir(path)) {
			t.Errorf("%s: another file is said to be written", step.what)
		}
	}
}
