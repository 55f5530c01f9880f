package sqllock

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// bootID tells this boot of the machine from others. It is empty on systems without the clock that it belongs to.
var bootID = sync.OnceValues(func() (string, error) {
	if _, ok := boottime.Now(); !ok {
		return "", nil
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
})

// machineNow reads the clock of deadlines, which all processes of the machine share: the time since it booted, or the
// wall clock on systems where that is not known.
func machineNow() time.Duration {
	if sinceBoot, ok := boottime.Now(); ok {
		return sinceBoot
	}
	return time.Duration(time.Now().UnixNano())
}
