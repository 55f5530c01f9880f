package wire

import "bufio"

// A Count is what has passed so far. Subtract two to get what passed between them.
type Count struct {
	Requests int64 // what was asked for
	Upkeep   int64 // what keeps locks, sessions and connections alive
	Watches  int64 // the beginnings and ends of watches, where they are no requests of their own
}

// Sub returns what passed since earlier.
func (c Count) Sub(earlier Count) Count {
	return Count{c.Requests - earlier.Requests, c.Upkeep - earlier.Upkeep, c.Watches - earlier.Watches}
}

func (c Count) add(more Count) Count {
	return Count{c.Requests + more.Requests, c.Upkeep + more.Upkeep, c.Watches + more.Watches}
}

var (
	oneRequest = Count{Requests: 1}
	oneUpkeep  = Count{Upkeep: 1}
	oneWatch   = Count{Watches: 1}
)

// A Protocol reads what one client sends. Each call of next reads one piece, as small as the protocol has them, and
// tells what it counts for.
type Protocol func(r *bufio.Reader) (next func() (Count, error))
