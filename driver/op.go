package driver

import (
	"fmt"
	"time"
)

// An Op is one operation on the claims of an engine. Claim names the lock and, for operations on a claim, the
// claim by its ID; see [Kind.IsOnClaim]. The other fields matter to the kinds that say so.
type Op struct {
	Kind   Kind   // what is done
	Claim  Claim  // to what
	Token  uint64 // OpPropose: grant the claim under this token
	Value  Value  // OpSetValue: what to keep
	Most   int    // OpQueue: the most entries to return; 0: all
	Follow bool   // OpRequest: tell of the claim's revocation and end also once it is granted

	// Brief says of an OpRequest that it only keeps a queued claim alive. Its answer may be cheaper, as that of a
	// [Renewer] may: Contended and Retry may be those of an earlier answer, and an engine that renews by session
	// need not look at a granted claim.
	Brief bool
}

// A Kind says what an operation does.
type Kind uint8

// Kinds of operations. What is in brackets is the field of [Result] with the answer.
const (
	// OpRequest queues the claim or, if it is queued, renews it, as [Driver.Request] says. A claim that has its
	// token was queued before. [Status]
	OpRequest Kind = iota + 1
	// OpPropose requests the claim without queueing it, under a token that the caller chose, as [Voter] says.
	// [Status, Life]
	OpPropose
	// OpRelease takes the claim out of the queue, or bars its ID, as [Driver.Release] says.
	OpRelease
	// OpLook answers about a queued claim as OpRequest would, and renews nothing. [Status]
	OpLook
	// OpBreak ends the claim by force, as [Breaker] says. It needs the claim's name and ID alone.
	OpBreak
	// OpRevoke asks the holder to release the claim, as [Revoker] says. It needs the claim's name and ID alone.
	OpRevoke
	// OpSetValue sets the value of the claim's lock, as [ValueStore] says.
	OpSetValue
	// OpValue reads the value of a lock, as [ValueStore] says. [Value]
	OpValue
	// OpQueue reads the live claims on a lock, oldest first. [Queue]
	OpQueue
	// OpWatch has one [Event] told when the queue of a lock changes for the first time after the result. After
	// [WatchTime] the driver may tell one without a change, or forget the watch.
	OpWatch
	// OpLife says in which of its lives the engine answers, as [Living] says. It needs no lock. [Life]
	OpLife
)

var kindNames = [...]string{
	OpRequest: "request", OpPropose: "propose", OpRelease: "release", OpLook: "look", OpBreak: "break",
	OpRevoke: "revoke", OpSetValue: "set value", OpValue: "value", OpQueue: "queue", OpWatch: "watch", OpLife: "life",
}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// IsOnClaim reports whether an operation of this kind is on one claim. The others are on a lock, or on the engine.
func (k Kind) IsOnClaim() bool { return OpRequest <= k && k <= OpSetValue }

// WatchTime is for how long a driver remembers an OpWatch at least. A caller that still wants to know asks again.
const WatchTime = time.Minute

// Kinds is a set of kinds, for [Traits].
type Kinds uint16

// KindsOf returns the set of these kinds.
func KindsOf(kinds ...Kind) Kinds {
	var set Kinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }
