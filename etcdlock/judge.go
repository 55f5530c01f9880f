package etcdlock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// seat is what others must know of a claim to judge theirs.
func (s seat) seat() leased.Seat {
	return leased.Seat{Weight: s.Weight, Limit: s.Limit, TTL: s.ttl(), Silent: s.peer, Fits: s.Fits, Place: s.key}
}

func (r record) seat() leased.Seat { return leased.Seat{Weight: r.Weight, Limit: r.Limit} }

func leasedSeats(all []seat) []leased.Seat {
	seats := make([]leased.Seat, len(all))
	for i, s := range all {
		seats[i] = s.seat()
	}
	return seats
}

// ttl is how long the claim lives at most unless it is renewed. Of a peer's claim that is not known.
func (s seat) ttl() time.Duration {
	if s.TTL == 0 {
		return leased.MinRetry
	}
	return time.Duration(s.TTL) * time.Millisecond
}
