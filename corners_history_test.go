package holdfast

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A history is what happened in a run, for people.
type history struct {
	began time.Time

	mu    sync.Mutex
	lines []string
	wrong []string // what should not have happened
	over  bool     // what comes now is of no interest
}

// note adds a line about who did what.
func (h *history) note(who, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(who, fmt.Sprintf(format, args...))
}

func (h *history) add(who, what string) {
	if h.over {
		return
	}
	h.lines = append(h.lines, fmt.Sprintf("%14v  %-12s  %s", h.since(), who, what))
}

// since is the time since the run began.
func (h *history) since() time.Duration { return time.Since(h.began) }

// fault notes what should not have happened.
func (h *history) fault(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	what := fmt.Sprintf(format, args...)
	h.add("JUDGE", what)
	h.wrong = append(h.wrong, what)
}

// end stops the writing of history.
func (h *history) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// failed reports whether something should not have happened.
func (h *history) failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.wrong) > 0
}

// claimID is how the ID of a claim looks.
var claimID = regexp.MustCompile(`[A-Z2-7]{20}_\d{8}`)

// String is what should not have happened and then the whole history, with short names in place of the IDs of claims.
func (h *history) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make(map[string]string)
	text := strings.Join(h.wrong, "\n") + "\n\n" + strings.Join(h.lines, "\n")
	return claimID.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("#%d", len(names)+1)
		}
		return names[id]
	})
}
