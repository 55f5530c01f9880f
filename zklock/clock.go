package zklock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// An instant is a reading of a clock that goes on while the machine is suspended, since the server's sessions do.
type instant int64

var started = time.Now()

func now() instant {
	if sinceBoot, ok := boottime.Now(); ok {
		return instant(sinceBoot)
	}
	return instant(time.Since(started))
}

func (t instant) add(d time.Duration) instant { return t + instant(d) }
func (t instant) sub(u instant) time.Duration { return time.Duration(t - u) }
