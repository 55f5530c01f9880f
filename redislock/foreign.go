package redislock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

// A Guest takes part in locks that another library keeps in its own [Layout]. Such a lock knows one holder and no queue:
// whoever asks first when it is free has it, so there is no order, no readers, no permits and no list. Tokens grow
// among our holders; those of the other library have none. It is a [driver.Waiter] and a [driver.Checker]; all methods
// are safe for concurrent use.
type Guest struct {
	conn     Conn
	opts     Options
	request  script
	renewal  script
	release  script
	notifier *notifier
	popping  chan struct{} // has room for the connections that wait for signals
}

var (
	_ driver.Driver     = (*Guest)(nil)
	_ driver.Waiter     = (*Guest)(nil)
	_ driver.Listener   = (*Guest)(nil)
	_ driver.Identifier = (*Guest)(nil)
	_ driver.Checker    = (*Guest)(nil)
)

// needsOneServer is why a foreign layout is refused in a cluster. A node that it is connected to as to a single server answers so, too.
const needsOneServer = "locks of other libraries need one server, as their keys lie on different nodes of a cluster"

// NewGuest returns a driver for locks in the layout that the options name, on a client for one Redis server that the
// caller opened, and closes, after the driver. Nothing is sent yet. A client that follows sentinels is refused, as by [New].
func NewGuest(client rueidis.Client, opts *Options) (*Guest, error) {
	if err := checkClient(client); err != nil {
		return nil, err
	}
	return NewGuestOn(rueidisConn{client: client}, opts)
}

// NewGuestOn is NewGuest on any client for Redis. Close closes conn.
func NewGuestOn(conn Conn, opts *Options) (*Guest, error) {
	given, err := opts.orDefault()
	switch {
	case err != nil:
		return nil, err
	case given.Layout == Native:
		return nil, errors.New("options: name the layout of the other library, or use New")
	case given.Replicas > 0:
		return nil, errors.New("options: in the layout of another library no grant waits for replicas; leave replicas out")
	case conn.Cluster():
		return nil, errors.New("options: " + needsOneServer)
	}
	g := &Guest{conn: conn, opts: given, popping: make(chan struct{}, mostHeard)}
	const always = " flags=allow-oom"
	g.request = given.foreignScript("foreign_request.lua", "")
	g.renewal = given.foreignScript("foreign_request.lua", always)
	g.release = given.foreignScript("foreign_release.lua", always)
	g.notifier = g.newNotifier()
	return g, nil
}

func (o Options) foreignScript(name, flags string) script {
	return newScript("#!lua" + flags + "\n" + strings.Replace(source(sources, name), "--layout", source(sources, string(o.Layout)+".lua"), 1))
}

// Traits returns facts about the driver.
func (g *Guest) Traits() driver.Traits {
	return driver.Traits{
		Backend: "redis, " + string(g.opts.Layout),
		MinTTL:  minTTL, MaxTTL: maxTTL, MaxName: maxName,
		Fenced: true, ServerClock: true, Detach: true,
	}
}

// Request takes the lock or renews the claim, as [driver.Driver] says. A claim that waits has no place: Wait tells when
// to ask again.
func (g *Guest) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	if err := driver.Validate(c, g.Traits()); err != nil {
		return driver.Status{}, err
	}
	g.notifier.extend(c)
	s := &g.request
	if c.Token != 0 {
		s = &g.renewal
	}
	keep := max(g.opts.Keep, keepTTLs*c.TTL)
	values, err := g.run(ctx, s, c, c.TTL, strconv.FormatInt(driver.Milliseconds(keep), 10), flag(c.Queue), flag(c.Detached))
	if err != nil {
		return driver.Status{}, err
	}
	return foreignAnswer(c, values)
}

func foreignAnswer(c driver.Claim, values []string) (driver.Status, error) {
	switch {
	case len(values) == 1 && values[0] == "gone":
		return driver.Status{}, driver.ErrGone
	case len(values) == 4 && values[0] == "granted":
		token, err1 := strconv.ParseUint(values[1], 10, 64)
		lives, err2 := strconv.ParseInt(values[3], 10, 64)
		ttl := time.Duration(lives) * time.Millisecond
		return driver.Status{Token: token, Granted: true, TTL: ttl, Contended: values[2] == "1"}, errors.Join(err1, err2)
	case len(values) == 2 && values[0] == "taken":
		left, err := strconv.ParseInt(values[1], 10, 64)
		return driver.Status{TTL: c.TTL, Retry: time.Duration(left) * time.Millisecond}, err
	}
	return driver.Status{}, errors.New("redis: the answer of a script cannot be understood")
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Release gives the lock back, as [driver.Driver] says, and tells those of both libraries who wait.
func (g *Guest) Release(ctx context.Context, c driver.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ttl := min(c.TTL, maxTTL)
	if ttl <= 0 {
		ttl = barred
	}
	values, err := g.run(ctx, &g.release, c, ttl)
	if err != nil {
		return err
	}
	g.notifier.forget(c.ID)
	return done(values)
}

// Queue is not supported: nobody knows who waits.
func (g *Guest) Queue(context.Context, string) ([]driver.Entry, error) {
	return nil, driver.Unsupported(g.Traits(), "showing the queue of a lock")
}

// Close ends all waits, and closes the connection.
func (g *Guest) Close() error {
	g.notifier.close()
	return g.conn.Close()
}

// ours begins the keys that only we use. The other library's may have any name, so they say what they are first.
const ours = "holdfast-guest:"

// keys returns the keys of a claim, for the scripts.
func (g *Guest) keys(c driver.Claim) []string {
	f := g.form(c.Name)
	return []string{f.lock, f.signal, ours + "lock:" + f.lock, ours + "claim:" + c.ID + ":" + f.lock}
}

func (g *Guest) form(name string) form {
	return g.opts.Layout.form(g.opts.Prefix + name)
}

// run runs a script for a claim.
func (g *Guest) run(ctx context.Context, s *script, c driver.Claim, ttl time.Duration, more ...string) ([]string, error) {
	args := append([]string{g.opts.Layout.owner(c.ID), tokenText(c.Token), strconv.FormatInt(driver.Milliseconds(ttl), 10)}, more...)
	return s.run(ctx, g.conn, g.keys(c), args)
}
