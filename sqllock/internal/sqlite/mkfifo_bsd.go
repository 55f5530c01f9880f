//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sqlite

import (
	"path/filepath"
	"syscall"
)

// mkfifo makes a FIFO, private until it is shared, by its path: package syscall has no other way here. Were the folder
// replaced meanwhile, the FIFO would not be found in the one that is open.
func (f *folder) mkfifo(name string) error {
	return syscall.Mkfifo(filepath.Join(f.root.Name(), name), 0o600)
}
