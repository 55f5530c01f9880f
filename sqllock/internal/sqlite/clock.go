package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// A machine is what all processes on one machine have to agree on, whatever containers they are in.
type machine struct {
	boot  string        // the ID of this boot; empty on systems that do not tell the time since they booted
	ahead time.Duration // how far our time namespace is ahead of the machine's own
}

// thisMachine is the one that this process is on.
var thisMachine = sync.OnceValues(func() (machine, error) {
	if _, ok := boottime.Now(); !ok {
		return machine{}, nil
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return machine{}, err
	}
	ahead, err := aheadOfMachine()
	return machine{boot: strings.TrimSpace(string(id)), ahead: ahead}, err
})

// now reads the clock of deadlines, which all processes on the machine share: the time since it booted, or the wall
// clock on systems that do not tell.
func (m machine) now() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot - m.ahead
	}
	return time.Duration(time.Now().UnixNano())
}

// booted is when the machine booted, by what the wall clock shows now.
func (m machine) booted() time.Time { return time.Now().Add(-m.now()) }

// errChildrenOnly means that this process has made a time namespace for its children. The kernel does not tell then in
// which one the process itself is.
var errChildrenOnly = errors.New("the time namespace of this process is not that of its children, and so unknown")

// aheadOfMachine returns how far the time since the boot is ahead in our time namespace. Kernels without such
// namespaces do not have the files that it reads.
func aheadOfMachine() (time.Duration, error) {
	ours, err := os.Readlink("/proc/self/ns/time")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if childrens, _ := os.Readlink("/proc/self/ns/time_for_children"); err == nil && ours != childrens {
		err = errChildrenOnly
	}
	if err != nil {
		return 0, err
	}
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil {
		return 0, err
	}
	return aheadIn(offsets)
}

// aheadIn finds the boot clock among lines of the form CLOCK SECONDS NANOSECONDS.
func aheadIn(offsets []byte) (time.Duration, error) {
	for line := range bytes.Lines(offsets) {
		var clock string
		var seconds, nanoseconds int64
		if _, err := fmt.Sscan(string(line), &clock, &seconds, &nanoseconds); err != nil {
			return 0, fmt.Errorf("read the time namespace from %q: %w", line, err)
		}
		if clock == "boottime" {
			return time.Duration(seconds)*time.Second + time.Duration(nanoseconds), nil
		}
	}
	return 0, nil
}
