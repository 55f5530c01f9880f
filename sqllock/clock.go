package sqllock

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// bootID tells this boot of the machine from others. It is empty where the system has none; deadlines then count on
// the wall clock.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if _, ok := boottime.Now(); err != nil || !ok {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// machineNow reads the clock that deadlines count on, in nanoseconds.
func machineNow() int64 {
	if bootID() != "" {
		if now, ok := boottime.Now(); ok {
			return int64(now)
		}
	}
	return time.Now().UnixNano()
}
