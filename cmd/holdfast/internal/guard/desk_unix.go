//go:build unix && !linux

package guard

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/pgroup"
)

// dieWithParent does nothing where the kernel offers no way: the guard ends what lives on.
func dieWithParent() {}

// introduce tells the guard which process group this process leads.
func introduce(desk int) error {
	_, err := unix.Write(desk, word(int64(os.Getpid())))
	return err
}

// meet returns the group that was introduced, nil while none was. It reports whether none will be.
func meet(desk int) (group *pgroup.Group, never bool) {
	var said [8]byte
	n, err := unix.Read(desk, said[:])
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return nil, false
	case err != nil || n < len(said):
		return nil, true
	}
	return pgroup.Of(int(unword(said[:]))), false
}
