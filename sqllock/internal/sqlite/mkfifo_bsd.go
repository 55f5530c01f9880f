//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sqlite

import (
	"path/filepath"
	"syscall"
)

// mkfifo makes a FIFO, private until it is shared. It makes it by its path, because package syscall has no other way
// here. If the folder was replaced meanwhile, makeFIFO does not find the FIFO in the one that is open.
func (f *folder) mkfifo(name string) error {
	return syscall.Mkfifo(filepath.Join(f.root.Name(), name), 0o600)
}
