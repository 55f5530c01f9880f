package driver

import (
	"math"
	"time"
)

// Granted reports whether the claim with this ID is granted, given the live claims of its lock, oldest first.
//
// A claim is granted when its weight and the weights of all claims ahead of it fit in the smallest limit among it and
// those ahead. So the granted claims are always a prefix of the queue.
func Granted(queue []Claim, id string) bool {
	sum, limit := int64(0), int64(All)
	for _, c := range queue {
		sum += c.Weight
		limit = min(limit, c.Limit)
		if sum > limit {
			return false
		}
		if c.ID == id {
			return true
		}
	}
	return false
}

// StatusOf returns the Status of the claim with this ID, given the live entries of its lock, oldest first. It is for
// drivers that judge the queue in Go, which have to add Revoked. ok is false if there is no such claim.
func StatusOf(queue []Entry, id string) (st Status, ok bool) {
	sum, limit := int64(0), int64(All)
	granted, firstWaiting := true, false
	soonest := time.Duration(math.MaxInt64)
	for i, e := range queue {
		sum += e.Weight
		limit = min(limit, e.Limit)
		firstWaiting = granted && sum > limit
		granted = granted && sum <= limit
		if e.ID == id {
			st = Status{Token: e.Token, Granted: granted, TTL: e.TTL, Contended: i < len(queue)-1}
			if firstWaiting {
				st.Retry = max(soonest, 1)
			}
			return st, true
		}
		soonest = min(soonest, e.Left)
	}
	return Status{}, false
}
