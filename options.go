package holdfast

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An Option sets how locks behave: given to Open or New for all locks of the client, given to Mutex, RWMutex or
// Semaphore for one.
type Option func(*settings)

// Defaults.
const (
	DefaultTTL          = 15 * time.Second
	DefaultLocalHandoff = 16
)

// maxHandoff is how many local hand-offs fit in the part of the token that counts them.
const maxHandoff = 1<<tokenShift - 1

type settings struct {
	ttl       time.Duration
	owner     string
	value     string // what a candidate stands for
	reentrant bool
	handoff   int
	minHold   time.Duration
	maxHold   time.Duration
	reuse     time.Duration

	asyncRelease bool

	patience    time.Duration // unset: follows from the TTL
	firstAnswer time.Duration // unset: the patience

	logger   *slog.Logger
	observer Observer
}

var silent = slog.New(slog.DiscardHandler)

func defaults() settings {
	return settings{
		ttl:     DefaultTTL,
		owner:   process(),
		handoff: DefaultLocalHandoff,

		patience:    unset,
		firstAnswer: unset,

		logger: silent,
	}
}

func (s settings) with(opts []Option) settings {
	if len(opts) == 0 {
		return s
	}
	return s.adjusted(opts)
}

func (s settings) adjusted(opts []Option) settings {
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// check reports what is wrong with the settings themselves; what the backend cannot do is found when a claim is made.
func (s *settings) check() error {
	switch {
	case s.ttl <= 0:
		return fmt.Errorf("WithTTL(%v): a TTL must be positive", s.ttl)
	case max(s.ttl, s.minHold, s.maxHold, s.reuse) > driver.LongestDuration:
		return fmt.Errorf("WithTTL(%v), WithMinHold(%v), WithMaxHold(%v), WithReuse(%v): each must be at most %v",
			s.ttl, s.minHold, s.maxHold, s.reuse, driver.LongestDuration)
	case s.ttl < shortestTTL:
		return fmt.Errorf("WithTTL(%v): it must be at least %v, because the holder trusts only about half of it",
			s.ttl, shortestTTL)
	case s.handoff < 0 || s.handoff > maxHandoff:
		return fmt.Errorf("WithLocalHandoff(%d): it must be from 0 to %d", s.handoff, maxHandoff)
	case s.minHold < 0 || s.maxHold < 0:
		return errors.New("WithMinHold and WithMaxHold: the duration must not be negative")
	case s.maxHold > 0 && s.maxHold < s.minHold:
		return fmt.Errorf("WithMaxHold(%v) is shorter than WithMinHold(%v)", s.maxHold, s.minHold)
	}
	return cmp.Or(s.checkReuse(), s.checkPatience())
}

// shortestTTL leaves something of a lease after the margin that its holder keeps; see trustedUntil.
const shortestTTL = 100 * time.Millisecond

// WithTTL sets for how long a lock stays taken after its holder died. While the holder lives the lock is renewed each
// third of it, so the work may take any time. The default is 15 s, the shortest 100 ms, on some backends more. A TTL
// that the backend cannot keep is an error when the lock is used; it is never changed silently.
//
// The TTL also bounds how long an outage of the backend may last until the holder loses the lock. With 15 s a lease
// outlasts every outage of up to 5.8 s in which requests hang, or 8.3 s in which they fail at once. It may outlast a
// longer one, depending on when the last renewal was sent, but none of 14.5 s. TTLs from 2.5 s to 18 s are in
// proportion. Choose the TTL by the longest restart or failover that locks should survive.
func WithTTL(ttl time.Duration) Option { return func(s *settings) { s.ttl = ttl } }

// WithOwner adds a label to the owner that others see: "host:pid label".
func WithOwner(label string) Option {
	return func(s *settings) { s.owner = strings.TrimSpace(process() + " " + label) }
}

// WithReentrant lets a context that holds the lock acquire it again. Acquisitions are counted, have the same token, and
// the last Release releases the lock. Without it, acquiring again is ErrDeadlock.
//
// Goroutines have no identity in Go, so a context stands for one line of calls, whose acquisitions nest: an inner
// acquisition is released before the context acquires the lock once more. If several goroutines share the context, the
// second one gets ErrDeadlock while the first is inside, unless both only read. Holdfast cannot see that the holder
// itself goes on beside an inner acquisition. So give goroutines that are to exclude each other, or the holder, a
// context without the lease: see [WithoutLease].
func WithReentrant() Option { return func(s *settings) { s.reentrant = true } }

// WithLocalHandoff sets how many times in a row the lock may pass from one goroutine of this client to the next without
// a round trip while others wait for it. The default is 16; 0 makes the order strictly first come, first served; the
// most is 1,023.
func WithLocalHandoff(n int) Option { return func(s *settings) { s.handoff = n } }

// WithMinHold keeps the lock taken for d from the grant, even after Release. So a short job runs at most once for each
// tick, whatever the clocks of the machines say. Release does not wait for it. The minimum hold does not survive a
// crash of the holder: then the lock is free within its TTL.
func WithMinHold(d time.Duration) Option { return func(s *settings) { s.minHold = d } }

// WithMaxHold releases the lock after d, even if renewals succeed. The lease is then lost.
func WithMaxHold(d time.Duration) Option { return func(s *settings) { s.maxHold = d } }

// WithLogger sets the logger for lost locks and failing renewals. By default nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) { s.logger = cmp.Or(l, silent) }
}

// WithObserver sets an observer, which is told what happens to locks: see [Observer].
func WithObserver(o Observer) Option { return func(s *settings) { s.observer = o } }

// process names this process to people: "host:pid".
var process = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + ":" + strconv.Itoa(os.Getpid())
})
