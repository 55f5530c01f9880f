package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// processorTime adds up what Linux says of a process and, if asked, of its children, also of those that have ended.
func processorTime(pid int, family bool) (used time.Duration, ok bool) {
	used, ok = clockOf(pid)
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
			more, _ := clockOf(id) // it may have ended since
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
