//go:build unix

package sqllock

import (
	"os"
	"syscall"
)

// openBell makes a FIFO and opens it so that reading waits for writers that come and go.
func openBell(path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
}

// ringBell writes one line to a FIFO, or nothing when nobody listens or its buffer is full. Lines are short enough to be
// written in one piece.
func ringBell(path, line string) {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	syscall.Write(fd, []byte(line+"\n")) // a lost ring costs a look
}
