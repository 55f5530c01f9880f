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

// A machine is what all processes of one have to agree on, whatever containers they are in.
type machine struct {
	boot   string        // tells this boot of the machine from others; empty on systems without the clock that it belongs to
	ahead  time.Duration // by how much that clock is ahead of the machine's in our time namespace
	booted time.Time     // by the wall clock
}

// thisMachine is the one that this process is on.
var thisMachine = sync.OnceValues(func() (machine, error) {
	sinceBoot, ok := boottime.Now()
	if !ok {
		return machine{}, nil
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return machine{}, err
	}
	ahead, err := aheadOfMachine()
	return machine{
		boot:   strings.TrimSpace(string(id)),
		ahead:  ahead,
		booted: time.Now().Add(ahead - sinceBoot),
	}, err
})

// now reads the clock of deadlines, which all processes of the machine share: the time since it booted, or the wall clock on
// systems where that is not known.
func (m machine) now() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot - m.ahead
	}
	return time.Duration(time.Now().UnixNano())
}

// errChildrenOnly means that this process has made a time namespace for its children. What it is in itself is not told.
var errChildrenOnly = errors.New("the time namespace of this process is not that of its children, and so unknown")

// aheadOfMachine returns by how much the time since the machine booted is ahead in our time namespace. Kernels without such
// namespaces have no file that tells.
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

// aheadIn reads lines of CLOCK SECONDS NANOSECONDS.
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
