// Package descend kills what descends from a process that adopts orphans, in whatever process group it is.
package descend

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KillChildren kills the children of a process but for one, among them orphans that left their group, and reports whether
// there were any. Their children become those of the process, and are found the next time.
func KillChildren(parent, spare int) (found bool) {
	for p := range processes {
		if p.parent == parent && p.pid != spare {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may be gone by now
			found = true
		}
	}
	return found
}

// GroupLives reports whether a process of a group runs. Those that nobody has waited for do not.
func GroupLives(group int) bool {
	for p := range processes {
		if p.group == group {
			return true
		}
	}
	return false
}

// processes yields those that run.
func processes(yield func(process) bool) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is fine
	for _, path := range stats {
		if p := readStat(path); p.lives && !yield(p) {
			return
		}
	}
}

// A process as /proc shows it.
type process struct {
	pid, parent, group int
	lives              bool
}

// readStat returns the zero process when it is gone.
func readStat(path string) (p process) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return p
	}
	// PID (NAME) STATE PARENT GROUP ..., where NAME may contain anything.
	line := string(stat)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 3 {
		return p
	}
	p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.lives = fields[0] != "Z" && fields[0] != "X"
	return p
}
