package proof

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// An order is what a visitor's process is told when it starts, as JSON in the environment.
type order struct {
	Visitor  int
	URL      string
	TTL      time.Duration
	Steps    []Step
	Next     int           // the step to begin with
	Until    time.Duration // when it ends, by now
	Resource string        // the socket of the resources
	Careless bool          // see [Schedule]
	Program  string        // the command, if a step runs it
	Section  *Step         // the process is the child of the command in this step; nil: it is the visitor
}

// A told is one line of JSON that a visitor's process prints. Times are those of now.
type told struct {
	Asks    *Visit    `json:",omitempty"` // begins, before its request
	Inside  *Visit    `json:",omitempty"` // was let in, and now and then while it stays
	Out     *Visit    `json:",omitempty"` // is over, in any way
	Broke   *Breaking `json:",omitempty"`
	Revoked *Breaking `json:",omitempty"`
	Stalled *Stall    `json:",omitempty"`
	End     *End      `json:",omitempty"`
}

// now is a clock that all processes of the machine share, and that nobody sets where the system has such a clock.
func now() time.Duration {
	if d, ok := boottime.Now(); ok {
		return d
	}
	return time.Duration(time.Now().UnixNano())
}
