package engine

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// usableCores are those that this process may use when it begins.
var usableCores = sync.OnceValues(func() (cores []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	for core := range len(set) * strconv.IntSize {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
})

// stayOn keeps every thread of this process on some cores. A thread that begins inherits them, so it looks again until
// no thread is elsewhere.
func stayOn(cores ...int) error {
	var want unix.CPUSet
	for _, core := range cores {
		want.Set(core)
	}
	for moved := true; moved; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		moved = false
		for _, thread := range threads {
			id, _ := strconv.Atoi(thread.Name())
			var is unix.CPUSet
			if err := unix.SchedGetaffinity(id, &is); err != nil || is == want {
				continue // it has ended, or is there
			}
			if err := unix.SchedSetaffinity(id, &want); err != nil && err != unix.ESRCH {
				return err
			}
			moved = true
		}
	}
	return nil
}
