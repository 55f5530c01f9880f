package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A sentinelConn is a Conn to the server that sentinels name the master, whichever that is. Once they have named
// another, no answer of the former master counts: it may go on granting locks that nobody else knows of.
type sentinelConn struct {
	sentinels *sentinels
	flows     *flows
	patience  time.Duration // with a master that is to be connected to
	dial      dialFunc
	doubt     chan struct{} // something went wrong: ask the sentinels now
	stop      context.CancelFunc
	finished  chan struct{}

	mu      sync.Mutex
	current *master
}

// A master is a server for as long as the sentinels do not name another.
type master struct {
	named
	conn rueidisConn
	life context.Context // ends then
	end  context.CancelFunc
}

// errReplaced replaces the answer of a server that is no longer the master.
var errReplaced = errors.New("redis: the sentinels have named another master; ask again")

// openSentinel returns when it has found the master.
func openSentinel(ctx context.Context, s *sentinels, t target, dial dialFunc) (*sentinelConn, error) {
	running, stop := context.WithCancel(context.Background())
	c := &sentinelConn{
		sentinels: s, flows: t.flows, patience: t.connectTimeout, dial: dial,
		doubt: make(chan struct{}, 1), stop: stop, finished: make(chan struct{}),
	}
	s.moved = c.suspect // before the first look, which starts the subscriptions that call it
	if err := c.find(ctx); err != nil {
		stop()
		s.close()
		return nil, err
	}
	go c.follow(running)
	return c, nil
}

// Pauses between two questions to the sentinels: when all is well, and the shortest.
const (
	calm  = time.Second
	hasty = 50 * time.Millisecond
)

// follow asks the sentinels again and again until the Conn is closed.
func (c *sentinelConn) follow(ctx context.Context) {
	defer close(c.finished)
	for driver.Sleep(ctx, hasty) == nil {
		look, cancel := context.WithTimeout(ctx, c.sentinels.calm-hasty)
		select {
		case <-c.doubt:
		case <-look.Done():
		}
		cancel()
		if ctx.Err() == nil && c.look(ctx, c.sentinels.patience) != nil {
			c.suspect()
		}
	}
}

// suspect has the sentinels asked soon.
func (c *sentinelConn) suspect() {
	select {
	case c.doubt <- struct{}{}:
	default:
	}
}

// find is the first look. Sentinels that do not answer in time are asked again, with more patience each time, for as
// long as connecting may take: they may be slow, and without a master the driver can do nothing.
func (c *sentinelConn) find(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	for patience := c.sentinels.patience; ; patience *= 2 {
		err := c.look(ctx, patience)
		if err == nil || !isSlow(err) || driver.Sleep(ctx, hasty) != nil {
			return err
		}
	}
}

// isSlow reports whether a sentinel that was asked may still answer.
func isSlow(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errConnecting)
}

// look asks the sentinels, and goes to the master that they name.
func (c *sentinelConn) look(ctx context.Context, patience time.Duration) error {
	old, since := c.now(), uint64(0)
	if old != nil {
		since = old.epoch
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n, err := c.sentinels.ask(asking, since)
	if err != nil {
		return err
	}
	if old != nil {
		if n.epoch < old.epoch && !n.many { // they have not heard of the latest failover
			return nil
		}
		if n.addr == old.addr && !old.isReplaced() {
			c.keep(old, n)
			return nil
		}
		old.retire() // before the new master is reached, which may fail: from now on the former one must grant nothing
	}
	return c.turnTo(ctx, n)
}

// keep notes a newer epoch of the same master.
func (c *sentinelConn) keep(m *master, n named) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.epoch = n.epoch
}

// turnTo connects to a server that says itself that it is a master.
func (c *sentinelConn) turnTo(ctx context.Context, n named) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	client, err := c.dial(ctx, n.addr)
	if err != nil {
		return err
	}
	m := &master{named: n, conn: rueidisConn{client: client, flows: c.flows, owned: true, name: n.addr}}
	m.life, m.end = context.WithCancel(context.Background())
	role, err := m.conn.Do(ctx, Command{Head: []string{"ROLE"}})
	if err == nil && role[0] != primaryRole {
		err = fmt.Errorf("redis: the sentinels name %s as the master, but it is not the master yet", n.addr)
	}
	if err != nil {
		m.retire()
		return explain(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = m
	return nil
}

func (c *sentinelConn) now() *master {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// retire ends a master, and all waits for its answers. Nobody waits until its connection is closed: a server that
// does not answer may take long over that.
func (m *master) retire() {
	m.end()
	go m.conn.client.Close() // alone: the connections of other servers go on
}

func (m *master) isReplaced() bool { return m.life.Err() != nil }

// during returns a context that ends when the master is replaced.
func (m *master) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(m.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// judge returns the error of an answer, or errReplaced if the master was replaced while the answer was under way. It
// has the sentinels asked if the error gives reason to: the server was not reached, or says that it is a replica.
func (c *sentinelConn) judge(m *master, err error) error {
	if m.isReplaced() {
		return errReplaced
	}
	reply, answered := errors.AsType[ReplyError](err)
	if err != nil && (!answered || isReadOnly(reply)) {
		c.suspect()
	}
	return err
}

// isReadOnly reports whether an answer is that of a replica.
func isReadOnly(reply ReplyError) bool { return strings.HasPrefix(string(reply), "READONLY") }

// Name returns the address of the master.
func (c *sentinelConn) Name() string { return c.now().addr }

// Cluster is false: the master has all keys.
func (c *sentinelConn) Cluster() bool { return false }

func (c *sentinelConn) Do(ctx context.Context, cmd Command) ([]string, error) {
	m := c.now()
	ctx, cancel := m.during(ctx)
	defer cancel()
	values, err := m.conn.Do(ctx, cmd)
	if err := c.judge(m, err); err != nil {
		return nil, err
	}
	return values, nil
}

func (c *sentinelConn) DoMany(ctx context.Context, cmds []Command) []Reply {
	return c.doAll(ctx, cmds, rueidisConn.DoMany)
}

func (c *sentinelConn) DoTogether(ctx context.Context, cmds []Command) []Reply {
	return c.doAll(ctx, cmds, rueidisConn.DoTogether)
}

func (c *sentinelConn) doAll(
	ctx context.Context, cmds []Command, send func(rueidisConn, context.Context, []Command) []Reply,
) []Reply {
	m := c.now()
	ctx, cancel := m.during(ctx)
	defer cancel()
	replies := send(m.conn, ctx, cmds)
	for i, r := range replies {
		if err := c.judge(m, r.Err); err != nil {
			replies[i] = Reply{Err: err}
		}
	}
	return replies
}

func (c *sentinelConn) Primaries(context.Context) ([]Conn, error) { return []Conn{c}, nil }

func (c *sentinelConn) Scan(ctx context.Context, cursor, match string, count int) (string, []string, error) {
	m := c.now()
	ctx, cancel := m.during(ctx)
	defer cancel()
	next, keys, err := m.conn.Scan(ctx, cursor, match, count)
	return next, keys, c.judge(m, err)
}

func (c *sentinelConn) Listen(ctx context.Context, channel string, listening func(), heard func(string)) error {
	m := c.now()
	ctx, cancel := m.during(ctx)
	defer cancel()
	return c.judge(m, m.conn.Listen(ctx, channel, listening, heard))
}

func (c *sentinelConn) cut() { c.flows.cut() }

// Close ends all connections, to the sentinels too.
func (c *sentinelConn) Close() error {
	c.stop()
	<-c.finished // then no look connects to another master, which nobody would close
	c.sentinels.close()
	err := c.now().conn.Close()
	time.AfterFunc(closeWithin, c.flows.cut) // the sentinels, and former masters, that do not answer
	return err
}
