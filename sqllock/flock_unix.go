//go:build unix

package sqllock

import (
	"errors"
	"os"
	"syscall"
)

// lockFile makes a file and locks it for as long as it stays open, here or in a process that inherited it. Somebody who
// found it before it was locked may have taken it for a dead client's and removed it; then it is made again.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f, syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, err
		}
		if isAt(f, path) {
			return f, nil
		}
		f.Close()
	}
}

// isLocked reports whether somebody holds the lock on a file: not when there is no file, and yes when it cannot be told.
func isLocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close() // gives the shared lock back too
	return flock(f, syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// removeDead removes a file that nobody has locked, and what belongs to it. It holds the lock meanwhile, so that who
// makes such a file notices.
func removeDead(path string, others ...string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil || !isAt(f, path) {
		return
	}
	for _, p := range append(others, path) {
		os.Remove(p)
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// isAt reports whether a path leads to the open file.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}
