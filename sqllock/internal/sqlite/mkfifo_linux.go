package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// mkfifo makes a FIFO, private until it is shared, in the folder that is open, even if its path has changed.
func (f *folder) mkfifo(name string) error {
	self, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return mknodAt(self, name)
}

func mknodAt(folder *os.File, name string) error {
	conn, err := folder.SyscallConn()
	if err != nil {
		return err
	}
	var made error
	err = conn.Control(func(fd uintptr) { made = syscall.Mknodat(int(fd), name, syscall.S_IFIFO|0o600, 0) })
	return errors.Join(err, made)
}
