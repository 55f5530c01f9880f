package zklock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// judge judges the last of these claims; they are all that are ahead of it, oldest first.
func (k keyspace) judge(name string, all []seat) leased.Verdict {
	newestFirst := make([]leased.Seat, len(all))
	for i, s := range all {
		newestFirst[len(all)-1-i] = s.seat()
	}
	v := leased.Judge(newestFirst[0], newestFirst[1:])
	v.Sure = v.Sure && !all[0].peer // a writer of Curator may have begun to read in the same place
	if v.Second != "" {
		v.Second = k.queue(name) + "/" + v.Second
	}
	switch {
	case v.Watch == "":
	case v.Until == leased.ItsTurn:
		v.Watch = k.note(name, all[len(all)-2].id)
	default:
		v.Watch = k.queue(name) + "/" + v.Watch
	}
	return v
}

// seat is what others must know of a claim to judge theirs. Peers do not say when they are granted.
func (s seat) seat() leased.Seat {
	return leased.Seat{Weight: s.weight, Limit: s.limit, TTL: s.ttl, Silent: s.peer, Place: s.node}
}

// boundsOf are those of the newest of these claims, none being ahead of them.
func boundsOf(all []seat) leased.Bounds {
	b := leased.NoBounds()
	for _, s := range all {
		b = b.Add(s.seat())
	}
	return b
}

// peerRetry is when to ask again where a peer is ahead, of which nobody knows when it expires. The server tells of
// its end anyway.
const peerRetry = 5 * time.Second
