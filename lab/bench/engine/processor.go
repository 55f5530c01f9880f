package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// processorTime adds up what Linux says of each thread of a process, in nanoseconds. Threads that have ended are missing;
// servers seldom end one.
func processorTime(pid int) (used time.Duration, ok bool) {
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
