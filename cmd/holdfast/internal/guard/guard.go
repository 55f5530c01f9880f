// Package guard is the second pair of eyes on a command that runs under a lock: a small process beside the one that
// supervises it. It is told until when the lock is ours, and kills the command when that has passed and it was told no
// later time, as when the supervisor is stopped, starved or dead.
//
// It is this program once more, started in a hidden mode, in a session of its own. It holds no standard input or
// output, and ends with the command. The command begins as this program, too, in another hidden mode: it makes itself
// known to the guard, and then becomes what it is to be. So there is no instant in which it could start something
// that nobody would end.
package guard

import (
	"errors"
	"os"
)

// In a hidden mode this process is over before the packages of the engines are initialised, which takes longer than all
// that it does. The language specifies that: of the packages whose imports are initialised, the one whose path comes
// first is next. So this package imports few others, and none whose path comes after those of the engines.
func init() {
	if asked(os.Args) {
		os.Exit(act(os.Args))
	}
}

// mode is the first argument of this program as a guard. What follows are the supervisor, and the mark of what descends
// from the command: see package descend. The process group is told, because the guard is there before the command.
const mode = "--guard"

// beginning is the first argument of this program as a command that has not begun. What follows are the numbers of two
// open files, on which it tells the guard and the supervisor, the supervisor, the path of the command, and its
// arguments with its name first.
const beginning = "--begin"

// name is what this program calls itself in its hidden modes.
const name = "holdfast"

// asked reports whether a command line asks this program to be a guard, or to begin a command.
func asked(args []string) bool {
	return len(args) == 4 && args[1] == mode || len(args) > 6 && args[1] == beginning
}

// ErrGone means that the guard has ended before it knew the command, which was not begun then.
var ErrGone = errors.New("the guard has ended")

// ErrNotBegun means that a command was killed before it began.
var ErrNotBegun = errors.New("it was killed before it began")

// ErrLate means the same where the time that the guard knew of was over.
var ErrLate = errors.New("its time was over before it began")
