// Package driver is the contract between Holdfast and a backend.
//
// A lock is a queue of claims, oldest first. A claim asks for Weight of the lock's Limit units, and is granted when
// its weight and the weights of all live claims ahead of it fit in the smallest limit among it and those ahead; see
// [Granted]. Every claim is leased from the moment it is queued, waiting or granted, and is kept alive in the same way
// in both states: by requesting it again. There is no other idea, so a driver never knows which kind of lock it serves.
//
// A driver implements [Driver]. It offers what else its engine can do through the small interfaces of this package
// ([Waiter], [Renewer], [Watcher], [Peeker], [Lister], [Breaker], [Revoker], [Noter], [Proposer], [Living], [Checker],
// [Noticer], [Reaper], [Identifier], [ValueStore]), which callers find with [As] and use through the portable function
// of the same file. Package drivertest is this contract as tests.
package driver

import (
	"context"
	"time"
)

// All is the largest limit, and the weight of a claim that shares with nobody.
const All = 1<<31 - 1

// A Claim asks for a place in the queue of a lock. Callers pass only claims for which [Validate] returns nil.
type Claim struct {
	Name   string        // the lock
	ID     string        // unique for each acquisition, never reused; letters, digits, '-' and '_'; see NewID
	Weight int64         // units asked for, 1 to Limit
	Limit  int64         // units that the lock has, 1 to All
	TTL    time.Duration // how long the claim lives unless it is renewed
	Queue  bool          // stay in the queue if it is not granted; otherwise leave no trace
	Owner  string        // for people: host, pid, label
	Value  string        // a small value for others to read, such as the address of a candidate
	Token  uint64        // zero at first; set when renewing: the claim must still be there under this token, or ErrGone

	// Detached leaves the claim to its TTL, even if the client that made it ends. From then on only requests that are
	// Detached renew it. Any other request was sent before, however late it arrives, so it changes nothing: neither
	// what the claim lives by, nor for how long. See Traits.Detach.
	Detached bool
}

// A Status is the server's answer about one claim.
type Status struct {
	Token     uint64        // place and fencing token; where Traits.FIFO is false it may be 0 until granted
	Granted   bool          //
	TTL       time.Duration // not less than was asked for, or what is left where it changes nothing, or no more is sure
	Retry     time.Duration // for the next in line: when the claim that blocks it expires; otherwise zero
	Contended bool          // others wait behind
	Revoked   bool          // somebody asked the holder to let go
}

// An Entry is a claim as others see it in the queue.
type Entry struct {
	Claim
	Granted bool          // it is held, and does not wait
	Since   time.Time     // when it was queued, by the server's clock if it has one; zero if nobody knows
	Left    time.Duration // how long it lives unless it is renewed
}

// A Driver keeps queues of claims on some engine. All methods are safe for concurrent use.
//
// An error other than those named here means that the outcome is unknown: the request may have been applied, may still
// be, or may never arrive. The caller repeats it with the same claim, so every method must allow that. An error that
// wraps [ErrRefused] is an answer: nothing was changed, and asking again will not help.
type Driver interface {
	// Request queues the claim or, when a claim with its ID is queued, renews it: from then on it lives for c.TTL. It
	// is atomic, and ignores expired claims. A claim that is Detached is renewed only by requests that are Detached;
	// the answer to any other says what is left of its TTL.
	//
	// A renewal changes nothing but how long the claim lives, and whether it is Detached. Token, place, weight, limit,
	// owner and value stay those of the request that queued the claim. A renewal may come without an Owner and a Value:
	// a process that resumes a claim does not know them, and others must go on to see them.
	//
	// Where Traits.Detach is false, a claim is renewed only by the client that queued it. A request of another client
	// is an error as long as the claim is queued, and changes nothing. Any client may release, break or revoke it.
	//
	// Once a claim was released, broken or expired, a request with its ID is answered with [ErrGone] for at least its
	// longest TTL: a late duplicate must not queue an orphan. A claim that does not want to wait (Queue is false) and
	// is not granted leaves no trace at all, and its Status has Granted false.
	Request(ctx context.Context, c Claim) (Status, error)

	// Release takes the claim out of the queue, granted or not, and grants what that makes grantable. It compares ID
	// and token, never the name alone. Token 0 compares the ID alone, to undo a request whose answer was lost. Such a
	// release also bars an ID that is not queued, so that the request gets [ErrGone] if it arrives later.
	//
	// Repeating a Release that succeeded returns nil, for at least a TTL. ErrGone says that the claim had ended in
	// another way, or never existed. A driver that cannot tell returns [ErrUnknown].
	Release(ctx context.Context, c Claim) error

	// Queue returns the live claims on a lock, oldest first; none is not an error.
	Queue(ctx context.Context, name string) ([]Entry, error)

	// Traits returns facts about the driver. They never change while it is open.
	Traits() Traits

	// Close frees what the driver itself opened. It releases no claims: they live until their TTL is over.
	Close() error
}

// Traits are facts about a driver, as data.
type Traits struct {
	Backend     string        // what people call it, for messages: "redis", "file"
	MinTTL      time.Duration // shorter TTLs are an error
	MaxTTL      time.Duration // longer TTLs are an error; zero: no bound
	MaxName     int           // longest name in bytes; zero: no bound
	Fenced      bool          // tokens grow in grant order for each name, whatever happens to leases
	FIFO        bool          // place in the queue is the order of arrival
	ServerClock bool          // expiry is judged by the server's clock alone
	Weighted    bool          // weights and limits other than 1 of 1 work: readers, semaphores
	Listed      bool          // Queue works
	Detach      bool          // Claim.Detached works, and other clients may renew a claim

	// The fields below are about a BatchDriver.

	Ops   Kinds  // operations that work
	Store string // what Identifier says; empty: the store cannot be told from others

	// Alone is how many operations are under way, of those that could share a batch, before further ones gather to
	// leave together. Operations that are under way alone are no slower than they were without batches. 0: batches gain
	// nothing here, and all operations are sent alone.
	Alone int
	// MaxInFlight is how many attempts are under way before those that gather wait for the end of one. 0: no bound.
	MaxInFlight int
	// FirstTry is after how long another attempt may reach a server that answers sooner. 0: never.
	FirstTry time.Duration
}
