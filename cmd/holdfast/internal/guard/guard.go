// Package guard is the second pair of eyes on a command that runs under a lock: a small process beside the one that
// supervises it. It is told until when the lock is ours, and kills the command when that has passed and it was told no
// later time, as when the supervisor is stopped, starved or dead.
//
// It is this program once more, started in a hidden mode, in a session of its own. It holds no standard input or output,
// and ends with the command.
package guard

// Mode is the first argument of this program as a guard. What follows are the supervisor, and the mark of what descends
// from the command: see package descend. The process group is told, since the guard is there before the command.
const Mode = "--guard"

// Asked reports whether a command line asks this program to be a guard.
func Asked(args []string) bool { return len(args) == 4 && args[1] == Mode }
