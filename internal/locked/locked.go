//go:build unix

// Package locked tells which processes have a file locked for themselves alone, as who writes to locks in a file has:
// as long as one is stopped then, nobody else can write.
package locked

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// By reports whether a process that is one of those in question has one of the files, or a part of it, locked for
// itself alone. It asks the kernel, and says no where that does not tell.
func By(inQuestion func(pid int) bool, paths ...string) bool {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK ADVISORY WRITE 708 fe:00:12345 0 EOF; who waits has an arrow after the number
		word := strings.Fields(line)
		if len(word) < 6 || word[1] == "->" || word[3] != "WRITE" {
			continue
		}
		pid, err := strconv.Atoi(word[4])
		isOne := func(path string) bool { return isFile(path, word[5]) }
		if err == nil && inQuestion(pid) && slices.ContainsFunc(paths, isOne) {
			return true
		}
	}
	return false
}

// isFile reports whether a path is that of a file as /proc/locks names it: with its inode after the numbers of its
// device.
func isFile(path, name string) bool {
	info, err := os.Stat(path)
	return err == nil && strings.HasSuffix(name, fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino))
}
