package redislock

import "context"

// A Conn is what the driver needs of a client for Redis. Packages that adapt a client implement it; [New] adapts
// rueidis. All methods are safe for concurrent use.
//
// A Conn never repeats a command by itself: a script that is repeated because its first answer was lost would look like
// the request of another client. If the server answers with an error, it is a [ReplyError]; for any other failure it is
// another error.
type Conn interface {
	// Do sends a command and returns its answer: one string for a text or a number, the elements of a list, and no
	// string for null.
	Do(ctx context.Context, cmd Command) ([]string, error)
	// DoMany sends commands without waiting in between, and returns the answer to each, in order.
	DoMany(ctx context.Context, cmds []Command) []Reply
	// DoTogether sends commands on the keys of one lock, or of any locks where Cluster is false, over one connection,
	// which serves no other caller until all are answered. A command without keys goes to the same server as the
	// others.
	DoTogether(ctx context.Context, cmds []Command) []Reply
	// Cluster reports whether the keys are spread over several servers by their slots.
	Cluster() bool
	// Primaries returns a Conn for each server that takes writes. They share the connections of this Conn, and need no
	// Close.
	Primaries(ctx context.Context) ([]Conn, error)
	// Name is the server's name in messages, like host:port, or empty.
	Name() string
	// Scan returns one page of the keys that match, on one server, and the cursor of the next page. The cursor "0" is
	// both start and end.
	Scan(ctx context.Context, cursor, match string, count int) (next string, keys []string, err error)
	// Listen subscribes to a channel, on a connection that serves nothing else. It calls listening when the server has
	// confirmed that, then heard for each message, one after the other, until the connection breaks or ctx ends. It
	// never subscribes again by itself, because messages missed in between would go unnoticed.
	Listen(ctx context.Context, channel string, listening func(), heard func(message string)) error
	// Close frees what the Conn itself opened.
	Close() error
}

// A ShardListener is a Conn to a cluster that can listen on the node where a lock is kept, so that messages about the
// lock go to the nodes of its slot only. Without it messages go to every node of the cluster.
type ShardListener interface {
	// ListenShard is Listen for a channel in the slot of its name. It may share its connection, and it also returns
	// when the slot moves to another node.
	ListenShard(ctx context.Context, channel string, listening func(), heard func(message string)) error
}

// A Router is a Conn to a cluster that knows where keys are kept. Without it, locks of a node that hangs may keep those
// of others waiting.
type Router interface {
	// Node names the node that is thought to have a key, the same one for all keys that it has. It is empty where that
	// is not known without waiting.
	Node(key string) string
}

// A Command is one command for the server, divided at its keys: in a cluster they say to which node the command goes.
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
