package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime adds up what Linux says of each thread of a process and, if asked, of its children, also of those that have
// ended. A thread that has ended is missing; servers seldom end one while they are measured.
func processorTime(pid int, family bool) (used time.Duration, ok bool) {
	used, ok = threadTime(pid)
	if !family {
		return used, ok
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, false
	}
	ended, ok := endedTime(pid)
	used += ended
	for child := range strings.FieldsSeq(string(children)) {
		if id, err := strconv.Atoi(child); err == nil {
			more, _ := threadTime(id) // it may have ended since
			used += more
		}
	}
	return used, ok
}

// endedTime is the time of the children of a process that have ended, in the kernel's ticks of a hundredth of a second.
func endedTime(pid int) (used time.Duration, ok bool) {
	const user, system = 13, 14 // places of the two after the name, which is in brackets; see proc(5)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) <= system {
		return 0, false
	}
	for _, ticks := range fields[user : system+1] {
		n, err := strconv.Atoi(ticks)
		if err != nil {
			return 0, false
		}
		used += time.Duration(n) * time.Second / 100
	}
	return used, true
}

// threadTime is the time of the threads of one process, in nanoseconds.
func threadTime(pid int) (used time.Duration, ok bool) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, false
	}
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since
		}
		var ran time.Duration
		if _, err := fmt.Sscan(string(text), &ran); err != nil {
			return 0, false
		}
		used += ran
	}
	return used, used > 0
}
