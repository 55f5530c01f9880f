package driver

import "context"

// A BatchDriver does operations on queues of claims, some at a time, and tells what happens to claims. All
// methods are safe for concurrent use. What the operations do is what [Driver] and its abilities say; a
// BatchDriver does those of Traits.Ops, and answers others with an error that wraps [errors.ErrUnsupported].
//
// BatchDriver is to take the place and the name of [Driver], and of its abilities that are kinds of operations.
// While there are both, [Adapt] makes a BatchDriver of a Driver. Callers do not call Do by themselves: package
// driver/batch gathers operations, bounds how many are under way, and keeps two that are on one claim apart.
type BatchDriver interface {
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

// A Sharder has operations on different locks served by different parts of an engine, each of which may be slow by
// itself. Operations of different shards never share a batch.
type Sharder interface {
	// Shard names the part that serves a lock. It may change while the driver is open.
	Shard(name string) string
}

// A BatchWrapper is a [BatchDriver] around another one.
type BatchWrapper interface {
	Unwrap() BatchDriver
}

// Either is what a [Driver] and a [BatchDriver] have in common, for functions that take both while there are both.
type Either interface {
	Traits() Traits // facts about the driver
	Close() error   // frees what the driver itself opened
}
