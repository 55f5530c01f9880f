package redislock

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// A combiner sends the requests and releases of many goroutines as one script when they come at about the same time,
// because most of the cost of one, on both sides, is to send it, to begin its script and to answer. The combiner
// never waits: an operation that is alone goes by itself at once, and the first of several only lets the goroutines
// run that are ready, in case they ask for something too. (Hendler, Incze, Shavit, Tzafrir: "Flat Combining and the
// Synchronization-Parallelism Tradeoff", SPAA 2010.)
type combiner struct {
	conn   Conn
	script script
	server *oneServer
	busy   atomic.Int32 // how many operations are under way
	always bool         // even one operation goes as a batch; tests set it

	mu   sync.Mutex
	next *batch // the one that still takes operations, or nil
}

// run runs an operation, by itself or in a batch. Where a batch did nothing, each of its operations runs by itself.
func (c *combiner) run(ctx context.Context, o operation) ([]string, error) {
	defer c.busy.Add(-1)
	alone := c.busy.Add(1) == 1
	// isProven comes last: it starts the question to the server, which is worth while only once operations meet.
	if c.always || !alone && c.server.isProven() {
		b, at := c.join(ctx, o)
		if at == 0 { // the first one has the batch go; before that, goroutines that are ready may join it
			runtime.Gosched()
			c.close(b)
		}
		if reply, ran := b.reply(ctx, at); ran {
			return reply.Values, reply.Err
		}
	}
	return o.script.run(ctx, c.conn, o.keys, o.args)
}

// A batch is operations that go as one script.
type batch struct {
	ops    []operation
	from   context.Context // of the first: the script has its values, not its end
	users  atomic.Int32    // how many have joined and not given up
	cancel context.CancelFunc
	done   chan struct{} // closed when the rest is known

	ran     bool // if not, nothing was done, and each operation has to go by itself
	replies []Reply
}

func newBatch(ctx context.Context) *batch {
	return &batch{ops: make([]operation, 0, mostInBatch), from: ctx, cancel: func() {}, done: make(chan struct{})}
}

// join adds an operation to the next batch, and returns its place there. The batch goes when it is full.
func (c *combiner) join(ctx context.Context, o operation) (b *batch, at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = newBatch(ctx)
	}
	b, at = c.next, len(c.next.ops)
	b.ops = append(b.ops, o)
	b.users.Add(1)
	if len(b.ops) == mostInBatch {
		c.next = nil
		c.send(b)
	}
	return b, at
}

// close sends a batch, unless it was full and was sent then. An operation that stayed alone goes by itself: its
// script is shorter.
func (c *combiner) close(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != b {
		return
	}
	c.next = nil
	if len(b.ops) > 1 || c.always {
		c.send(b)
		return
	}
	close(b.done)
}

// send sends a batch, and gives up when nobody waits for it any more. mu is held.
func (c *combiner) send(b *batch) {
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(b.from))
	go func() {
		defer b.cancel()
		defer close(b.done) // after ran and replies are set, which are read without a lock from then on
		keys, args, places := writeBatch(len(b.ops), func(at int) *operation { return &b.ops[at] })
		values, err := c.script.runBatch(ctx, c.conn, keys, args)
		// A batch that the server refuses has done nothing. It may be refused for the sake of one operation: a release
		// needs no memory, which a request does. So each goes by itself.
		if refused, ok := errors.AsType[ReplyError](err); ok {
			if strings.HasPrefix(string(refused), "CROSSSLOT") {
				c.server.learn(false, provenFor)
			}
			return
		}
		b.ran = true
		b.replies = readBatch(values, err, places)
	}()
}

// reply waits for the reply to the operation at this place, if it ran.
func (b *batch) reply(ctx context.Context, at int) (r Reply, ran bool) {
	select {
	case <-b.done:
	case <-ctx.Done():
		if b.users.Add(-1) == 0 {
			b.cancel() // by now that of the script: the first of a batch has it go before it waits
		}
		return Reply{Err: ctx.Err()}, true
	}
	if !b.ran {
		return Reply{}, false
	}
	return b.replies[at], true
}
