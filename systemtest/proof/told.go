package proof

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// An order is what a visitor's process is told when it starts, as JSON in the environment.
type order struct {
	Visitor    int
	URL        string
	Database   nemesis.Database // none if a step needs none
	TTL        time.Duration
	Steps      []Step
	Next       int           // the step to begin with
	Until      time.Duration // when it ends, by now
	Resource   string        // the socket of the resources
	Careless   bool          // see [Schedule]
	Program    string        // the command, if a step runs it
	Peer       []string      // the command line of the program of others, if a step is for one
	PeerRenews bool          // it keeps a lock for longer than a TTL
	Section    *Step         // the process is the child of the command in this step; nil: it is another's
	Passed     *Passed       // the process goes on with this; nil: it is another's
	Many       *Step         // the process has the many claims of this step; nil: it is another's
}

// Passed is a lease that was detached in the middle of a visit.
type Passed struct {
	Handle string
	Visit  *Visit
	Step   Step // what is left of it
}

// A told is one line of JSON that a visitor's process prints. Times are those of now.
type told struct {
	Begun   int       `json:",omitempty"` // so many steps were begun
	Asks    []*Visit  `json:",omitempty"` // begin, before their request; several if they ask for several locks
	Inside  []*Visit  `json:",omitempty"` // were let in, and now and then while they stay
	Out     []*Visit  `json:",omitempty"` // are over, in any way
	Broke   *Breaking `json:",omitempty"`
	Revoked *Breaking `json:",omitempty"`
	Counts  *Count    `json:",omitempty"` // begins
	Counted *Count    `json:",omitempty"` // is over
	Many    *Many     `json:",omitempty"`
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
