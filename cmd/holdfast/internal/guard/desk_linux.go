package guard

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/pgroup"
)

// dieWithParent makes this thread, and what it becomes, die with the thread that started it.
func dieWithParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // cannot fail
}

// introduce tells the guard which process group this process leads, with a descriptor of itself where there are any:
// the number alone could be another's when the guard hears it.
func introduce(desk int) error {
	var rights []byte
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		defer unix.Close(fd)
		rights = unix.UnixRights(fd)
	}
	return unix.Sendmsg(desk, word(int64(os.Getpid())), rights, nil, unix.MSG_NOSIGNAL)
}

// meet returns the group that was introduced, nil while none was. It reports whether none will be.
func meet(desk int) (group *pgroup.Group, never bool) {
	var said [8]byte
	rights := make([]byte, unix.CmsgSpace(4))
	n, more, _, _, err := unix.Recvmsg(desk, said[:], rights, unix.MSG_CMSG_CLOEXEC)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return nil, false
	case err != nil || n < len(said):
		return nil, true
	}
	return pgroup.Held(int(unword(said[:])), descriptor(rights[:more])), false
}

// descriptor returns the first that came along, less than zero when none did.
func descriptor(rights []byte) int {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}
