package leased

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Store is what an engine does for queues whose claims live by sessions. It judges nothing: [Engine] does. All
// methods are safe for concurrent use.
//
// How claims are laid out is the store's affair: whether a key is named after its claim or used again for the next,
// what bars the ID of a claim that has ended, and what tells a late copy of a step from the step.
type Store interface {
	// Traits are those of the driver, without Ops. Detach says that Rewrite can move a seat to another session, and so
	// that any client can take over a claim. The first call may ask the server.
	Traits() driver.Traits
	// Facts never change.
	Facts() Facts

	// Term is the time that sessions of claims with this TTL have in common: claims with one term share sessions.
	Term(ttl time.Duration) time.Duration
	// Open begins a session for claims with this TTL. One that is own is for a single claim that is left to its TTL,
	// which the session does not outlive: only steps for that claim extend it, and it goes on after Close.
	Open(ctx context.Context, ttl time.Duration, own bool) (Session, error)

	// Apply makes one attempt at each step. It calls done once for each, with the step's place, as soon as its outcome
	// is known, in any order and from any goroutine, and returns after the last call. Steps are atomic and independent
	// of each other, and no two are about one claim. Two that enter one lock get different tokens.
	Apply(ctx context.Context, steps []Step, done func(i int, o Outcome))

	// Watch has events about a spot told to subscribers, until Unwatch is called. [Began] comes first, and again
	// whenever events may have been missed. It names the revision from which on all events are told: one after the
	// revision read, if that costs no time.
	Watch(at Spot, read int64)
	Unwatch(at Spot)
	// Subscribe has tell called with events. It is called under no lock that Watch or Unwatch needs.
	Subscribe(tell func(WatchEvent))

	// Names yields the names of locks, as [driver.Lister] says.
	Names(ctx context.Context, prefix string) iter.Seq2[string, error]
	Close() error
}

// Facts are how stores differ in what the engine has to know.
type Facts struct {
	// Ordered says that the events of a client's spots are told in the order in which they happened. Otherwise only
	// those of one spot are.
	Ordered bool
	// Partial says that reading few of the claims ahead is cheaper than reading all. Otherwise all are read.
	Partial bool
}

// A Session is what claims live by on the server: when it ends, they do. The store keeps it alive while claims have
// places in it, and a while longer.
type Session interface {
	Lease
	ID() int64 // as in Seat.Session
	// Take keeps a place for a claim. It reports false if the session takes no more.
	Take(c driver.Claim) (place string, ok bool)
	// Give gives a place back. A claim that is clean has had no request of which a copy may still be under way.
	Give(place string, clean bool)
	// Serves returns the TTL that the session gives a claim with this TTL and in this state, or false if the claim has
	// to move to another.
	Serves(c driver.Claim) (ttl time.Duration, ok bool)
	// Stuck says that the server refuses to take a claim out of its queue. Where the claim is in the way of others,
	// the session takes no more claims, and ends when it serves no other lock.
	Stuck(c driver.Claim)
}

// An Act is what a step does.
type Act uint8

// The acts. What is in brackets are the fields of [Outcome] that say more than Err.
const (
	// Enter puts a claim at the end of the queue, unless its ID is in the queue or has ended. With Try it does so only
	// if nobody came after the revision Since; zero: if nobody is there. [Found, Done, Own, There; Ahead, Complete]
	Enter Act = iota + 1
	// Look reads a claim, and what is said by Ahead or Blocker. Without an ID it reads those ahead of a token.
	// [Found, Own, Behind; Ahead, Complete]
	Look
	// Leave takes a claim out of the queue, if it has the token and is on the session that are named, and remembers
	// how it ended. With Bar it notes that an ID which is not there has ended; what is remembered of that already stays
	// for as long. [Found, Done, There]
	Leave
	// Rewrite replaces what a seat says, and moves it to Session unless that is nil, if the seat has the version.
	// [Found, Done, Own]
	Rewrite
	// List reads the queue for people. [Ahead, oldest first]
	List
	// Get reads the value of a lock. [Value, Version]
	Get
	// Set replaces the value of a lock, if the claim is there under its token and the value has the version. [Done]
	Set
)

// A Step is one thing to do. Which fields matter is said by its act.
type Step struct {
	Act     Act
	Name    string // the lock
	ID      string // the claim
	Place   string // of the claim's seat; empty: it is to be found by the ID
	Token   uint64 // that the claim must have; zero: any. Look without an ID: whose predecessors are read
	Version int64  // that the seat, or the value, must have

	Session Session       // Enter, Rewrite: what the claim is to live by. Look: what it lives by
	Live    time.Duration // with a Session: the outcome comes when the session lives that long from the call on
	Keep    time.Duration // for how long an end is remembered, at least; zero: not at all

	Seat  Seat  // Enter, Rewrite: what to write
	Try   bool  // Enter: see there
	Since int64 // Enter with Try
	Again bool  // Enter: a copy of this step may have been applied, or may still be

	Ahead   int    // Enter, Look: how many of the newest ahead to read; where Facts.Partial is false all are read
	Blocker string // Look: read the seat at this place in their stead; it is the only one in Ahead if it is there

	On    int64     // Leave: the session that the claim must be on; zero: any
	End   Tombstone // Leave: how it ends. A token of zero stands for that of the seat
	Bar   bool      // Leave: see there
	Clean bool      // Leave: no copy of a request of the claim is under way

	Value driver.Value // Set
	Most  int          // List: so many; zero: all
}

// An Outcome is what became of a step.
type Outcome struct {
	// Err is nil, an answer of the server ([driver.ErrRefused], [errors.ErrUnsupported]), ErrSessionLost,
	// ErrSessionFull, ErrPast, or an error that matches [driver.ErrUnsent]: then nothing was done. After any other
	// nobody knows.
	Err error

	Found    bool // the claim is in the queue: Own says how, after the step
	Done     bool // this step has put, taken out or written it
	Own      Seat
	Ahead    []Seat // newest first
	Complete bool   // none of those ahead is left out
	Behind   bool   // others are behind the claim
	// There is what is remembered of the claim's end: of one that was not found, what was there already, and of one
	// that was taken out, what stays. nil: nothing.
	There    *Tombstone
	Sure     time.Duration // with Live: how long the session lives from the call on for certain; zero: for Live
	Revision int64         // of the reading, in the order of tokens; zero: not known

	Value   driver.Value
	Version int64 // of the value; zero: there is none
}

// Errors of stores, by which nothing was done.
var (
	// ErrSessionLost says that the session has ended, and with it all that was on it.
	ErrSessionLost = errors.New("the session has ended")
	// ErrSessionFull says that the session takes no more, and is not extended.
	ErrSessionFull = errors.New("the session takes nothing more")
	// ErrPast says that the server answered from before the claim was queued: it is faulty, or was restored from a
	// backup.
	ErrPast = errors.New("the member answered from the past: from before a claim that was confirmed")
)

// A Spot is what can be watched: a seat or, without a place, the queue of a lock.
type Spot struct {
	Name, Place string
	Turn        bool // of a seat: tell also when it says that its claim is granted
}

// A WatchEvent tells what has happened at a spot, or that a session has ended.
type WatchEvent struct {
	Spot     Spot
	Kind     EventKind
	Seat     Seat  // Changed: as it is. Ended: its place; empty if that is not known. Of a queue, the token may be zero
	Revision int64 // at which it happened; zero: not known

	Lost Session // it has ended, and the rest is empty
}

// An EventKind is what has happened.
type EventKind uint8

// The kinds of events.
const (
	Began   EventKind = iota + 1 // events are told from this revision on; what happened before may have been missed
	Entered                      // a claim came into the queue that is watched
	Changed                      // a seat says something else
	Ended                        // a claim left its seat
)
