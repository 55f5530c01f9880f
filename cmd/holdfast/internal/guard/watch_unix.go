//go:build unix

package guard

import (
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/descend"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/pgroup"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

// What a guard has open. What it keeps open follows.
const (
	words = 3 // the pipe on which it is told
	desk  = 4 // the socket on which the command introduces itself
)

// A watch is a guard at work.
type watch struct {
	group      *pgroup.Group // nil until the command has introduced itself, before it begins
	never      bool          // it will not
	mark       string        // of what descends from the command
	supervisor int           // our parent, unless it is gone
	deadline   time.Duration // by clock
	alone      bool          // the supervisor is gone
	pace       time.Duration // of looks since then
}

// act is this program in one of its hidden modes. It returns the exit code.
func act(args []string) int {
	if args[1] == beginning {
		return begin(args)
	}
	supervisor, err := strconv.Atoi(args[2])
	if err != nil || !isType(words, unix.S_IFIFO) || !isType(desk, unix.S_IFSOCK) {
		return usageError
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2} {
		signal.Ignore(s) // those who end the job end it by its supervisor
	}
	_ = unix.SetNonblock(words, true) // it is a pipe
	_ = unix.SetNonblock(desk, true)  // and this a socket
	(&watch{supervisor: supervisor, mark: args[3]}).stand()
	return 0
}

const usageError = 64

func isType(fd int, format uint32) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && uint32(st.Mode)&unix.S_IFMT == format
}

// stand guards the command to its end, or to the end of its time.
func (w *watch) stand() {
	alarm := newAlarm()
	for {
		w.listenTo(words)
		w.meetAt(desk)
		switch {
		case w.never, w.alone && w.group != nil && !w.group.Lives():
			return
		case w.group != nil && clock() >= w.deadline:
			w.kill()
			return
		}
		alarm.await(w.next(), w.hearing())
	}
}

// hearing is on what something may be said that counts.
func (w *watch) hearing() (on []unix.PollFd) {
	if !w.alone {
		on = append(on, unix.PollFd{Fd: words, Events: unix.POLLIN})
	}
	if w.group == nil {
		on = append(on, unix.PollFd{Fd: desk, Events: unix.POLLIN})
	}
	return on
}

// next is when to look again.
func (w *watch) next() time.Duration {
	switch {
	case w.group == nil:
		return math.MaxInt64 // until it is known
	case !w.alone:
		return w.deadline
	}
	w.pace = min(max(2*w.pace, firstPace), lastPace)
	return min(clock()+w.pace, w.deadline)
}

// Bounds of the pause between two looks whether a command whose supervisor is gone has ended: until then its lock is
// kept.
const (
	firstPace = 5 * time.Millisecond
	lastPace  = 250 * time.Millisecond
)

// listenTo takes in all that was said, before it is acted on: after a pause of this process the first is stale.
func (w *watch) listenTo(pipe int) {
	for !w.alone {
		var said [4096]byte // words are of eight bytes, each written in one piece
		switch n, err := unix.Read(pipe, said[:]); {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return
		case n < 8:
			w.alone = true
		default:
			w.deadline = time.Duration(unword(said[n-n%8-8:]))
		}
	}
}

// meetAt takes in which group is the command's. A group that cannot be one's is not believed.
func (w *watch) meetAt(desk int) {
	if w.group != nil || w.never {
		return
	}
	w.group, w.never = meet(desk)
	if w.group != nil && w.group.ID() <= 1 {
		w.group, w.never = nil, true
	}
}

// Bounds of kill: a process may sleep in the kernel, or not be ours to kill.
const (
	killLimit = 5 * time.Second
	killPace  = 10 * time.Millisecond
)

// kill ends the command, and what descends from it as far as that can be found, again while something of it lives.
func (w *watch) kill() {
	for begin := clock(); clock()-begin < killLimit; time.Sleep(killPace) {
		_ = w.group.Signal(unix.SIGKILL) // it may be gone by now
		if descend.Over(w.group.Lives, w.killOrphans) {
			return
		}
	}
}

// killOrphans kills what has left the group and was adopted by the supervisor. Without that, orphans are among the
// children of some other process, which are not ours to kill.
func (w *watch) killOrphans() (found bool) {
	family := descend.Family{Parent: w.supervisor, Spare: os.Getpid(), Group: w.group.ID(), Mark: w.mark}
	return os.Getppid() == w.supervisor && family.Kill()
}

// clock is one that all processes of the machine share, and that does not stand still while it is suspended.
func clock() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot
	}
	return time.Duration(time.Now().UnixNano())
}
