// Package driver is the contract between Holdfast and a backend.
//
// A lock is a queue of claims, oldest first. A claim asks for Weight of the lock's Limit units, and is granted when
// its weight and the weights of all live claims ahead of it fit in the smallest limit among it and those ahead; see
// [Granted]. Every claim is leased from the moment it is queued, waiting or granted, and is kept alive in the same way
// in both states: by requesting it again. There is no other idea, so a driver never knows which kind of lock it serves.
//
// A driver implements [Driver], which does operations of some kinds; see [Kind]. What some engines can do besides are
// small interfaces ([Lister], [Checker], [Reaper], [Inheriter], [Noter], [Sharder]), which callers find with [As].
// Where others can do without an ability, or say that they cannot, the function for that is in the same file. Package
// drivertest is this contract as tests.
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

// A Driver does operations on queues of claims, some at a time, and tells what happens to claims. All methods are safe
// for concurrent use. It does the operations of Traits.Ops, and answers others with an error that wraps
// [errors.ErrUnsupported].
//
// Callers do not call Do by themselves: package driver/batch gathers operations, bounds how many are under way, and
// keeps two that are on one claim apart.
type Driver interface {
	// Traits returns facts about the driver. They never change while it is open.
	Traits() Traits

	// Do makes one attempt at each operation of a batch. It calls done once for each, with the operation's
	// place in the batch, as soon as the result is known, in any order and from any goroutine, and returns
	// after the last call. It does not call done with a lock that another call of Do needs.
	//
	// The operations are independent of each other. Each is atomic by itself, and Do may apply them in any
	// order, together or apart. No two of a batch are on the same claim; several may be on the same lock. Do
	// splits a batch as its engine needs it: by server, connection, session or size. It does not keep the batch
	// after it has returned.
	//
	// ctx bounds the attempt. When it ends, operations without a result get an error that matches [ErrUnsent]
	// if they have surely had no effect and never will, and otherwise the error of ctx. ctx has the values of
	// the context of the batch's first operation.
	Do(ctx context.Context, batch []Op, done func(i int, r Result))

	// Subscribe has tell called with what happens to the claims that the driver follows, and to the queues that
	// it watches, until stop is called. A claim that waits is followed from before the request that queues it
	// is sent; a granted one if a request has said Follow. OpRelease ends that, as the claim's end does.
	//
	// tell is quick, does not block, and does not call the driver. It may be called from any goroutine, under
	// any of the driver's locks, and once more after stop. An event too many costs a question, and a missing
	// one costs time.
	Subscribe(tell func(Event)) (stop func())

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
	Listed      bool          // OpQueue works
	Detach      bool          // Claim.Detached works, and other clients may renew a claim
	Ops         Kinds         // operations that work

	// Store names the store. All its clients, in whatever process, get the same name, and no client of another store
	// does. People may read it. Clients of several stores use it to lock in one order. Empty: the store cannot be told
	// from others.
	Store string

	// Alone is how many operations are under way, of those that could share a batch, before further ones gather to
	// leave together. Operations that are under way alone are no slower than they were without batches. 0: batches gain
	// nothing here, and all operations are sent alone.
	Alone int
	// MaxInFlight is how many attempts are under way before those that gather wait for the end of one. 0: no bound.
	MaxInFlight int
	// Full is how many operations have to gather to leave at once, while others may still be about to ask: the engine
	// works on them meanwhile. 0: all that can ask get to.
	Full int
}
