package sqlite

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// clockID names what deadlines count from, which all processes that share a file have to agree on: the boot and,
// since each has clocks of its own, the time namespace. It is empty on systems that do not tell the time since they
// booted.
var clockID = sync.OnceValues(func() (string, error) {
	if _, ok := boottime.Now(); !ok {
		return "", nil
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/time") // there is none on kernels that know no such namespaces
	return strings.TrimSpace(string(boot)) + " " + namespace, err
})

// now reads the clock of deadlines: the time since the machine booted, or the wall clock on systems that do not
// tell.
func now() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot
	}
	return time.Duration(time.Now().UnixNano())
}

// booted is when the machine booted, by what the wall clock shows now.
func booted() time.Time { return time.Now().Add(-now()) }
