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
	Value  Value  // OpSetValue: what to keep; callers pass only values for which [Value.Validate] returns nil
	Most   int    // OpQueue: the most entries to return; 0: all
	Follow bool   // OpRequest: tell of the claim's revocation and end also once it is granted
	Try    Try    // OpRequest without a token, OpRelease with one: whether it was sent before

	// Brief says of an OpRequest that it only keeps a queued claim alive, so that its answer may be cheaper. Contended
	// and Retry may be those of an earlier answer: thousands may wait in one queue, and reading all of it for each of
	// them would cost the square of that. For the same reason a claim that shares, and had many ahead when those were
	// read last, may learn of its grant only when the client of the one just ahead has learned of that one's, or that
	// one has ended. An engine that renews by session need not look at a granted claim.
	Brief bool
}

// A Try says whether another attempt at the same operation may have been applied, or may still be. An engine may need
// to remember less where it knows. The zero value says of a request that nothing is known, and of a release that none
// was sent before.
type Try uint8

const (
	_ Try = iota

	// TryFirst says of a request that no other was sent for this claim. If its outcome stays unknown, the claim is
	// requested again, or released, without this; then the engine must remember how it ends. Otherwise the claim may
	// end without a record: no copy of the request can come later.
	TryFirst

	// TryAgain says of a release that an earlier one may have been applied. An engine that finds nothing of the claim,
	// and no record of its end, answers with [ErrUnknown] then, not with [ErrGone]. It answers so for no other reason:
	// the caller takes the claim for released if it cannot have expired. Other doubts are another error.
	TryAgain
)

// A Kind says what an operation does.
type Kind uint8

// Kinds of operations. What is in brackets is the field of [Result] with the answer.
//
// An error other than those named here means that the outcome is unknown: the operation may have been applied, may
// still be, or may never arrive. The caller repeats it with the same claim, so every operation must allow that. An
// error that wraps [ErrRefused] is an answer: nothing was changed, and asking again will not help.
const (
	// OpRequest queues the claim or, when a claim with its ID is queued, renews it: from then on it lives for its TTL.
	// It ignores expired claims. Only the client that first requested a claim requests it without its token: other
	// clients know the claim by its token. A claim that is Detached is renewed only by requests that are Detached; the
	// answer to any other says what is left of its TTL. [Status]
	//
	// A renewal changes nothing but how long the claim lives, and whether it is Detached. Token, place, weight, limit,
	// owner and value stay those of the request that queued the claim. A renewal may come without an Owner and a Value:
	// a process that resumes a claim does not know them, and others must go on to see them.
	//
	// Where Traits.Detach is false, a claim is renewed only by the client that queued it. A request of another client
	// is an error as long as the claim is queued, and changes nothing. Any client may release, break or revoke it.
	//
	// Once a claim was released, broken or expired, a request with its ID is answered with [ErrGone] for at least its
	// longest TTL: a late duplicate must not queue an orphan. Where [TryFirst] says that there is none, the engine may
	// leave that out. A claim that does not want to wait (Queue is false) and is not granted leaves no trace at all,
	// and its Status has Granted false.
	OpRequest Kind = iota + 1

	// OpPropose requests the claim without queueing it, for quorums, in which many engines agree on one token. If it is
	// granted, and Op.Token is greater than every token that the lock has had, or is the claim's own, the claim has
	// this token from then on. Otherwise a granted claim has a token that the engine chose: greater than all before and
	// than the proposed one. The caller may then propose one that is greater than Status.Token. The Life is the one in
	// which the engine applied the proposal. [Status, Life]
	OpPropose

	// OpRelease takes the claim out of the queue, granted or not, and grants what that makes grantable. It compares ID
	// and token, never the name alone. Token 0 compares the ID alone, to undo a request whose answer was lost. Such a
	// release also bars an ID that is not queued, so that the request gets [ErrGone] if it arrives later.
	//
	// A client that repeats a release of its own which succeeded succeeds again, for at least a TTL, or gets ErrUnknown
	// where it says [TryAgain]. ErrGone says that
	// the claim had ended in another way, or never existed; another client may get it for a claim that was released. A
	// driver that cannot tell returns [ErrUnknown].
	OpRelease

	// OpBreak ends the claim by force, waiting or granted, and grants what that makes grantable. It needs the claim's
	// name and ID alone. The next answer to the claim's client is ErrGone, even to OpRelease. OpBreak itself gets
	// ErrGone if there is no such claim.
	OpBreak

	// OpRevoke asks the holder to release the claim: its Status is Revoked from then on, and those that follow it are
	// told. It needs the claim's name and ID alone, and gets ErrGone if there is no such claim, or if it is not
	// granted.
	OpRevoke

	// OpSetValue sets the value of the claim's lock, if the claim is granted under its token, in one atomic step;
	// otherwise the error is [ErrGone]. Nothing else is asked of the claim, and it is not renewed. A value that is not
	// after the one that is kept, see [Value.IsAfter], changes nothing: setting the same again succeeds, and what is
	// older is [ErrRefused].
	//
	// An empty text removes the value. The driver still refuses what is older until the claim has ended, or for a TTL
	// at least.
	OpSetValue

	// OpValue reads what was set last for a lock; the zero Value is none. [Value]
	OpValue

	// OpQueue reads the live claims on a lock, oldest first; none is not an error. [Queue]
	OpQueue

	// OpWatch has one [Event] told when the queue of a lock changes for the first time after the result. After
	// [WatchTime] the driver may tell one without a change, or forget the watch.
	OpWatch

	// OpLife says in which of its lives the engine answers. It needs no lock. A driver of several engines has no such
	// operation. [Life]
	OpLife
)

var kindNames = [...]string{
	OpRequest: "request", OpPropose: "propose", OpRelease: "release", OpBreak: "break",
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
