package redislock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A foreign is the driver of locks that another library keeps in its own [Layout]. Such a lock knows one holder and
// no queue: whoever asks first when it is free has it, so there is no order, no readers, no permits and no list.
// Tokens grow among our holders; those of the other library have none.
type foreign struct {
	conn     Conn
	opts     Options
	request  script
	renewal  script
	release  script
	passing  script
	channels *lockChannels
	listener *listener        // on them
	popping  chan struct{}    // has room for the connections that wait for signals
	stops    sync.Map         // by the ID of a claim that waits for a signal: what ends that
	events   driver.Followers // where signals are popped, which takes a goroutine for each claim that waits
}

var (
	_ driver.Driver  = (*foreign)(nil)
	_ driver.Checker = (*foreign)(nil)
)

// mostHeard is for how many foreign locks a client waits with a connection each. For more it asks now and then:
// connections are what it shares with everything else that it does.
const mostHeard = poolSize * 3 / 4

// newForeign returns a driver that has sent nothing yet.
func newForeign(conn Conn, opts Options) (*foreign, error) {
	switch {
	case opts.Replicas > 0:
		return nil, errors.New("options: in the layout of another library no grant waits for replicas; " +
			"leave replicas out")
	case conn.Cluster():
		return nil, errors.New("options: " + needsOneServer)
	}
	f := &foreign{conn: conn, opts: opts, popping: make(chan struct{}, mostHeard)}
	const always = " flags=allow-oom"
	f.request = opts.foreignScript("foreign_request.lua", "")
	f.renewal = opts.foreignScript("foreign_request.lua", always)
	f.release = opts.foreignScript("foreign_release.lua", always)
	f.passing = opts.foreignScript("foreign_pass.lua", always)
	in := newInbox()
	feeds := signalFeeds{conn: conn, channelOf: func(lock string) string { return f.form(lock).signal }, inbox: in}
	f.channels = newLockChannels(anyAddress, feeds.of, in.expects)
	f.listener = &listener{in, f.channels}
	f.events.Wait = f.pop
	f.events.Listen = func(context.Context, driver.Claim, func()) (stop func(), err error) { return func() {}, nil }
	return f, nil
}

// anyAddress says that a client listens for a lock. No record names it: signals are for all who wait.
const anyAddress = "*"

// foreignScript puts the functions of the layout into a script.
func (o Options) foreignScript(name, flags string) script {
	layout := source(string(o.Layout) + ".lua")
	return newScript("#!lua" + flags + "\n" + strings.Replace(source(name), "--layout", layout, 1))
}

// Traits returns facts about the driver.
func (f *foreign) Traits() driver.Traits {
	return driver.Traits{
		Backend: "redis, " + string(f.opts.Layout),
		MinTTL:  minTTL, MaxTTL: maxTTL, MaxName: maxName,
		Fenced: true, ServerClock: true, Detach: true, Store: f.opts.identity(),
		Ops: driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpWatch),
	}
}

// Subscribe implements [driver.Driver]. Nobody tells a holder anything: its renewals find out what became of the
// lock.
func (f *foreign) Subscribe(tell func(driver.Event)) (stop func()) {
	stopPopping, stopListening := f.events.Subscribe(tell), f.listener.subscribe(tell)
	return func() {
		stopPopping()
		stopListening()
	}
}

// parseForeign reads what foreign_request.lua answers.
func parseForeign(c driver.Claim, values []string) (driver.Status, error) {
	switch {
	case len(values) == 1 && values[0] == "gone":
		return driver.Status{}, driver.ErrGone
	case len(values) == 4 && values[0] == "granted":
		token, err1 := strconv.ParseUint(values[1], 10, 64)
		lives, err2 := strconv.ParseInt(values[3], 10, 64)
		ttl := time.Duration(lives) * time.Millisecond
		st := driver.Status{Token: token, Granted: true, TTL: ttl, Contended: values[2] == "1"}
		return st, errors.Join(err1, err2)
	case len(values) == 2 && values[0] == "taken":
		left, err := strconv.ParseInt(values[1], 10, 64)
		return driver.Status{TTL: c.TTL, Retry: time.Duration(left) * time.Millisecond}, err
	}
	return driver.Status{}, errNotUnderstood
}

// Close ends all waits, and closes the connection.
func (f *foreign) Close() error {
	f.events.Close()
	return closeAll(f.listener, f.conn)
}

// ours begins the keys that only we use. The other library's may have any name, so ours say first what they are.
const ours = "holdfast-guest:"

// keys returns the keys of a claim, for the scripts.
func (f *foreign) keys(c driver.Claim) []string {
	at := f.form(c.Name)
	return []string{at.lock, at.signal, ours + "lock:" + at.lock, ours + "claim:" + c.ID + ":" + at.lock}
}

func (f *foreign) form(name string) form {
	return f.opts.Layout.form(f.opts.Prefix + name)
}
