//go:build unix

package guard

import (
	"encoding/binary"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/descend"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

// words is the pipe on which a guard is told. What it keeps open follows.
const words = 3

// A watch is a guard at work.
type watch struct {
	group      int           // zero until it was told: nothing has been started, as far as it knows
	mark       string        // of what descends from the command
	supervisor int           // our parent, unless it is gone
	deadline   time.Duration // by clock
	alone      bool          // the supervisor is gone
	pace       time.Duration // of looks since then
}

// Main is this program as a guard: see [Asked]. It returns the exit code.
func Main(args []string) int {
	supervisor, err := strconv.Atoi(args[2])
	if err != nil || !isPipe(words) {
		return usageError
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		signal.Ignore(s) // those who end the job end it by its supervisor
	}
	_ = unix.SetNonblock(words, true) // it is a pipe
	w := &watch{supervisor: supervisor, mark: args[3]}
	alarm := newAlarm()
	for {
		w.listenTo(words)
		switch {
		case w.alone && (w.group == 0 || w.isOver()):
			return 0
		case w.group > 0 && clock() >= w.deadline:
			w.kill()
			return 0
		}
		alarm.await(w.next(), !w.alone)
	}
}

const usageError = 64

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// next is when to look again.
func (w *watch) next() time.Duration {
	switch {
	case w.group == 0:
		return math.MaxInt64 // until it is told
	case !w.alone:
		return w.deadline
	}
	w.pace = min(max(2*w.pace, firstPace), lastPace)
	return min(clock()+w.pace, w.deadline)
}

// Bounds of the pause between two looks whether a command whose supervisor is gone has ended: until then its lock is kept.
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
			for word := range slices.Chunk(said[:n-n%8], 8) {
				w.hear(int64(binary.BigEndian.Uint64(word)))
			}
		}
	}
}

// hear takes in one word: see func word. Groups that cannot be a command's are not believed.
func (w *watch) hear(v int64) {
	if v >= 0 {
		w.deadline = time.Duration(v)
	} else if group := int(-v); group > 1 {
		w.group = group
	}
}

// isOver reports whether nothing of the command lives. What we may not signal lives, and what nobody has waited for does
// not: there may be nobody who does.
func (w *watch) isOver() bool {
	return unix.Kill(-w.group, 0) == unix.ESRCH || !descend.GroupLives(w.group)
}

// Bounds of kill: a process may sleep in the kernel, or not be ours to kill.
const (
	killLimit = 5 * time.Second
	killPace  = 10 * time.Millisecond
)

// kill ends the command, and what descends from it as far as that can be found, again while something of it lives.
func (w *watch) kill() {
	for begin := clock(); clock()-begin < killLimit; time.Sleep(killPace) {
		_ = unix.Kill(-w.group, unix.SIGKILL) // it may be gone by now
		if found := w.killOrphans(); !found && !descend.GroupLives(w.group) {
			return
		}
	}
}

// killOrphans kills what has left the group and was adopted by the supervisor. Without that, orphans are among the
// children of some other process, which are not ours to kill.
func (w *watch) killOrphans() (found bool) {
	family := descend.Family{Parent: w.supervisor, Spare: os.Getpid(), Group: w.group, Mark: w.mark}
	return os.Getppid() == w.supervisor && family.Kill()
}

// clock is one that all processes of the machine share, and that does not stand still while it is suspended.
func clock() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot
	}
	return time.Duration(time.Now().UnixNano())
}
