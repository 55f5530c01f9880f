package redislock

import "context"

// A Conn is what the driver needs of a client for Redis. Packages that adapt a client implement it; [New] does so for
// rueidis. All methods are safe for concurrent use.
//
// A Conn never repeats a command by itself: a script that is repeated because its first answer was lost would look
// like the request of another client. An error that the server answered is a [ReplyError]; any other failure is any
// other error.
type Conn interface {
	// Do sends a command and returns its answer: a text or a number as one string, a list as its elements, null as no
	// string.
	Do(ctx context.Context, cmd Command) ([]string, error)
	// DoMany sends commands without waiting in between, and returns the answer to each, in order.
	DoMany(ctx context.Context, cmds []Command) []Reply
	// DoTogether sends commands on the keys of one lock, or of any locks where Cluster is false, over one connection,
	// which serves nobody else until all are answered. A command without keys goes where the others go.
	DoTogether(ctx context.Context, cmds []Command) []Reply
	// Cluster reports whether the keys are spread over several servers by their slots.
	Cluster() bool
	// Primaries returns a Conn for each server that takes writes. They share the connections of this Conn, and need no
	// Close.
	Primaries(ctx context.Context) ([]Conn, error)
	// Name is what messages call the server, like host:port, or empty.
	Name() string
	// Scan returns one page of the keys that match, on one server, and where to go on: "0" is both start and end.
	Scan(ctx context.Context, cursor, match string, count int) (next string, keys []string, err error)
	// Listen subscribes to a channel, on a connection that serves nothing else. It calls listening when the server has
	// confirmed that, then heard for each message, one after the other, until the connection breaks or ctx ends.
	// It never subscribes again by itself, because messages that were missed in between would go unnoticed.
	Listen(ctx context.Context, channel string, listening func(), heard func(message string)) error
	// Close frees what the Conn itself opened.
	Close() error
}

// A ShardListener is a Conn to a cluster that can listen where a lock is kept, so that messages about it reach
// the nodes of its slot and no others. Without it messages go from node to node through the whole cluster.
type ShardListener interface {
	// ListenShard is Listen for a channel in the slot of its name. It may share its connection, and it also returns
	// when the slot moves to another node.
	ListenShard(ctx context.Context, channel string, listening func(), heard func(message string)) error
}

// A Command is one command for the server, divided into what comes before, at and after its keys: in a cluster the
// keys say which node the command goes to.
type Command struct {
	Head []string // its name and what comes before the keys
	Keys []string
	Tail []string // what comes after them
}

// A Reply is the answer to one of many commands.
type Reply struct {
	Values []string // where Err is nil
	Err    error    // as of Conn
}

// A ReplyError is an error that the server answered.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }
