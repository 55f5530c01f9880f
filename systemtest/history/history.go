// Package history judges whether what clients saw of a lock could be: by three judges, cheapest first, each of which
// sees what the others blur.
//
//   - [History.Overlap]: nobody was inside together with whom the lock excludes.
//   - [History.Tokens]: tokens are unique and grow in the order of grants.
//   - [History.Legal]: all that was answered has an order in which a lock could have answered it (linearizability, by
//     porcupine: Athalye, "Porcupine: A fast linearizability checker in Go").
package history

import (
	"fmt"
	"time"
)

// A Visit is one attempt to be inside, as the visitor saw it. Times are since the start of the run.
type Visit struct {
	Visitor      int
	Units        int64 // asked for, of the history's limit
	Try          bool  // it would not wait
	Call, Return time.Duration
	Outcome      Outcome
	Token        uint64

	// Of those that got in:
	Seen        time.Duration // the last moment at which the lease was looked at and said that it was held
	Leave, Left time.Duration // call and return of Release
	Ended       Ending
	TTL         time.Duration // how long the lock may stay taken by a visitor that is cut off
	Unheard     bool          // before it got in it may have been granted the lock, and have lost it, unheard
}

// An Outcome is how an attempt to get in ended.
type Outcome int

const (
	Got     Outcome = iota // the lock was acquired
	Taken                  // it was not, because others had it: the answer to a try
	GaveUp                 // the wait ended with its context: for a moment the claim may have been granted
	Unknown                // the backend did not answer: the same, until it is undone or expires
)

// An Ending is how a visit ended.
type Ending int

const (
	Released Ending = iota // Release said that the lock was ours until then
	Lost                   // the lease was lost
	Unclear                // Release was not answered
)

// A History is all that visitors did with one lock that has so many units.
type History struct {
	Limit  int64
	Voted  bool // the lock is a majority of votes: rivals may have so many of them for a moment that nobody gets it
	Visits []Visit

	token uint64 // the greatest before
}

func (v Visit) String() string {
	return fmt.Sprintf("visitor %d with token %d, inside from %v to %v", v.Visitor, v.Token, v.Return, v.Seen)
}

// until is when a visit that was not answered has no effect any more: it was undone in the background, or has ended
// with its TTL, to which servers may add a little.
func (v Visit) until() time.Duration { return max(v.Return, v.Left) + v.TTL + v.TTL/4 }

// Over is when nothing of a visit can be in the way of others any more.
func (v Visit) Over() time.Duration {
	switch {
	case v.Outcome == Taken:
		return v.Return
	case v.Outcome == Got && v.Ended == Released:
		return v.Left
	default:
		return v.until()
	}
}
