package zklock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// A link brings one session to its servers. The client library asks it where to connect, and connects through it,
// which shows what the library does not tell; see [handshake]. It is closed when its session has ended, because
// the library would go on with a new one.
type link struct {
	round    round
	shunned  *shunned
	connect  connector
	timeout  time.Duration // that is asked for
	user     string        // who the client is; empty for nobody
	sasl     bool          // tell so by SASL
	password string
	granted  atomic.Int64    // by the server, in milliseconds; zero until it answered
	newest   atomic.Int64    // change that the servers told of
	replaced func()          // called when a server has given the client another session than it asked for
	open     context.Context // ends when the library should connect no more
	shut     context.CancelFunc
	refused  chan struct{} // closed when a server has said that it does not know the user

	mu     sync.Mutex
	at     server         // that was tried last
	failed int            // attempts after the session was up last
	turned bool           // away by a server since then: it hung up before its greeting
	hangs  int            // connections that were given up after the last answer
	fault  error          // why the newest attempt has failed
	faulty string         // the server with which it has
	conn   net.Conn       // the newest connection
	up     bool           // the library has a session on it
	pulse  *pulse         // of the newest connection on which a server has greeted
	counts leased.Instant // see [link.counted]

	parked  chan struct{} // closed when the library has nowhere to connect any more
	leaving chan struct{} // closed when it is about to be told to end

	refusal  error    // what that server said
	denied   error    // what a server said last, if that was that it does not serve the client
	deniedOn net.Conn // where it said so
}

func (d *Driver) newLink(hosts []string, timeout time.Duration) *link {
	l := &link{
		shunned: &d.shunned, connect: d.opts.connector(), timeout: timeout,
		refused: make(chan struct{}), parked: make(chan struct{}), leaving: make(chan struct{}),
	}
	l.open, l.shut = context.WithCancel(context.Background())
	l.round = round{names: hosts, lookUp: d.servers, shunned: &d.shunned, first: rand.IntN(1 << 16)}
	l.user, l.password, l.sasl = d.opts.User, d.opts.Password, d.opts.SASL
	return l
}

// Init, Len, Next and Connected are what the library asks a HostProvider for.
func (l *link) Init([]string) error { return nil }
func (l *link) Len() int            { return len(l.round.names) }

// Next returns the next server. Told that this starts another round, the library would forget requests and pause
// for a second, in which a short session ends; so that is said only when it should stop.
func (l *link) Next() (addr string, stop bool) {
	l.setUp(false)
	if l.isClosed() {
		l.park()
		return "", true
	}
	at := l.round.next() // without the lock: it may look up names
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
	return at.addr, l.isClosed()
}

// Connected notes that the session is up.
func (l *link) Connected() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed, l.turned, l.up = 0, false, true
}

func (l *link) setUp(up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up = up
}

func (l *link) isUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}

// Bounds of the end of a library without a connection.
const (
	parkTime  = time.Second          // how long it may take until the library has nowhere to connect
	leaveTime = 5 * time.Millisecond // how long until it has noted that it should end
)

// park keeps the library, which has nowhere to connect, until it is being told to end. Told so while it connects, its
// Close would wait for a second for an answer that cannot come; told so before the next step, it answers that itself.
func (l *link) park() {
	l.mu.Lock()
	if !leased.IsClosed(l.parked) {
		close(l.parked)
	}
	l.mu.Unlock()
	select {
	case <-l.leaving:
		time.Sleep(leaveTime)
	case <-time.After(parkTime):
	}
}

// leave ends the library by its Close when it is parked.
func (l *link) leave(end func()) {
	select {
	case <-l.parked:
	case <-time.After(parkTime):
	}
	l.mu.Lock()
	if !leased.IsClosed(l.leaving) {
		close(l.leaving)
	}
	l.mu.Unlock()
	end()
}

// turnedAway notes that a server hung up before its greeting: it has no leader, too many connections, or less to
// tell than the session has seen.
func (l *link) turnedAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turned = true
}

// isTurnedAway reports whether a server has done so after the session was up last.
func (l *link) isTurnedAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turned
}

var errLinkClosed = errors.New("the session has ended")

// dial connects to a server. When all have failed, it pauses first.
func (l *link) dial(_, _ string, timeout time.Duration) (net.Conn, error) {
	if l.pause(); l.isClosed() {
		return nil, errLinkClosed
	}
	conn, err := l.connect(l.open, l.tried(), min(timeout, l.patience()))
	if l.blame(err); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn = conn; l.isClosed() {
		conn.Close()
		return nil, errLinkClosed
	}
	return newHandshake(l, conn), nil
}

// dialled is the newest connection.
func (l *link) dialled() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// breakOff breaks the connection, as a network may.
func (l *link) breakOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
}

func (l *link) tried() server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *link) pause() {
	l.mu.Lock()
	over := l.failed > 0 && l.failed%len(l.round.servers) == 0
	l.failed++
	l.mu.Unlock()
	if !over {
		return
	}
	timer := time.NewTimer(20*time.Millisecond + rand.N(40*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.open.Done():
	}
}

// patience is how long one server may take to greet: there may be others, and the session does not live for ever.
func (l *link) patience() time.Duration {
	return min(max(l.timeout/attemptPart, 100*time.Millisecond), firstAnswerTimeout/2)
}

// tolerance is how long a request may go without an answer before another server is tried: a tenth of the
// session's time, but 1 s to 2 s, so that there is time for some. Each time that this was in vain doubles it,
// because the servers may all be slow.
func (l *link) tolerance() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := min(max(l.timeout/10, time.Second), 2*time.Second)
	return min(first<<min(l.hangs, 8), l.timeout/2)
}

// feel notes the pulse of the newest connection.
func (l *link) feel(p *pulse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pulse = p
}

// counted returns from when on, at least, the leader counts the time that claims of the session live, once a request
// was answered that was sent at this instant. It is that instant, unless the session's server heard nothing from it
// shortly before.
func (l *link) counted(sent leased.Instant) leased.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts = max(l.counts, l.pulse.counts(sent, leased.Now())) // what was promised before stays true
	return min(sent, l.counts)
}

// hung notes that the server did not answer in time.
func (l *link) hung() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangs++
	l.shunned.add(l.at.addr)
}

// answered notes that a server answers.
func (l *link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangs, l.denied = 0, nil
}

// refusedNow is what a server said last, if that was that it does not serve the client.
func (l *link) refusedNow() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.denied
}

// isRefusedOn reports whether that was said on this connection, and none was made since.
func (l *link) isRefusedOn(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.denied != nil && l.deniedOn == conn && l.conn == conn
}

// attemptPart is the part of a session's time after which an attempt is given up.
const attemptPart = 4

// absence is the error of a session that has no connection in time: why the newest attempt has failed, if that is
// known.
func (l *link) absence(late error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fault == nil && l.conn != nil && !l.up:
		return notBegun{fmt.Errorf("%s accepts connections, and has said nothing yet", l.at.name), late}
	case l.fault == nil:
		return late
	case isAbsence(l.fault): // which names the address
		return notBegun{l.fault, late}
	default:
		return notBegun{fmt.Errorf("%s: %w", l.faulty, l.fault), late}
	}
}

// A notBegun is an error with the words of its cause, which also says that the time is over.
type notBegun struct{ cause, late error }

func (e notBegun) Error() string   { return e.cause.Error() }
func (e notBegun) Unwrap() []error { return []error{e.cause, e.late} }

func (l *link) blame(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if isAbsence(err) && hasSaid(l.fault) {
		return // which tells more
	}
	l.fault, l.faulty = err, l.at.name
}

// The ways in which servers fall silent.
var (
	errSilent = errors.New("it accepts connections and says nothing")
	errHungUp = errors.New("it hangs up before it says anything: it may have no leader, " +
		"no room for more connections, want TLS, or be no ZooKeeper")
)

// hasSaid reports whether a server has given this reason.
func hasSaid(err error) bool {
	return err != nil && !isAbsence(err) && !errors.Is(err, errSilent) && !errors.Is(err, errHungUp)
}

// isAbsence reports whether nobody was there to connect to.
func isAbsence(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// refuse notes that a server does not serve this user, or nobody without one. Others may.
func (l *link) refuse(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shunned.add(l.at.addr)
	l.denied, l.deniedOn = err, l.conn
	if l.refusal == nil {
		l.refusal = err
		close(l.refused)
	}
}

// learn notes a change that a server told of. One connection reads at a time.
func (l *link) learn(change int64) {
	if change > l.newest.Load() {
		l.newest.Store(change)
	}
}

func (l *link) isClosed() bool { return l.open.Err() != nil }

// close lets the library connect no more, and ends an attempt that is under way.
func (l *link) close() {
	l.shut()
	if !l.isUp() {
		l.breakOff()
	}
}
