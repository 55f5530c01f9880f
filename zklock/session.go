package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A session lives longer than its claims, by this part of its time, and a second at most. A server that is not the
// leader tells the leader only twice in each tick whom it has heard: should it fail in between, the session ends that
// much earlier. See [pulse].
const (
	slackPart = 4
	slackMost = time.Second
)

func slack(session time.Duration) time.Duration { return min(session/slackPart, slackMost) }

// sessionTime is how long the session for claims of this TTL should live.
func sessionTime(ttl time.Duration) time.Duration {
	ttl = time.Duration(driver.Milliseconds(min(ttl, longestTime))) * time.Millisecond
	return min(ttl*slackPart/(slackPart-1), ttl+slackMost) + time.Millisecond
}

var errSessionLost = errors.New("the session has ended")

// The ways in which a session ends that neither this client nor an idle time has ended.
var (
	errExpired  = fmt.Errorf("the server has expired it: %w", zk.ErrSessionExpired)
	errReplaced = errors.New("the server answered a reconnection with another session, " +
		"as ClickHouse Keeper and some proxies do")
	errForgotten = errors.New("the servers have forgotten changes that it has seen, " +
		"as after a restore from a backup")
)

// A session is what the claims of one TTL live by: when this process is gone, they end with it. The client library
// keeps it alive, also a while longer than there are claims, for the notes of ends.
type session struct {
	d             *Driver
	conn          *zk.Conn
	link          *link
	id            int64
	asked         time.Duration // the TTL that it was made for
	ttl           time.Duration // what that became: the server may make sessions live longer
	time          time.Duration // what the server granted
	lost          chan struct{} // closed when the server has dropped the session, or was told to
	cause         error         // why it did; valid once lost is closed; nil when it was told to
	room          *room
	subscriptions subscriptions
	tombstones    tombstones

	mu      sync.Mutex
	used    leased.Instant
	engaged int            // questions under way that may take long
	away    leased.Instant // since when it has no connection; zero while it has one
	back    chan struct{}  // closed at the next reconnection
	watches map[spot]*watch
}

// A slot is a place for a session that is there or about to be, and the room that it has.
type slot struct {
	*leased.Slot[*session]
	room room
}

// sessionFor returns a session for claims of this TTL, which keeps these places for the caller. The first call for
// a TTL takes some round trips, and so does one when all sessions are full.
func (d *Driver) sessionFor(ctx context.Context, ttl time.Duration, places ...place) (*session, error) {
	for {
		slot := d.slot(ttl, places)
		s, err := slot.Await(ctx)
		if err != nil {
			for _, p := range places {
				slot.room.give(p.key)
			}
			return nil, err
		}
		if s.use() {
			return s, nil
		}
	}
}

// slot returns the first slot that has room, so that those which are not needed any more become empty.
func (d *Driver) slot(ttl time.Duration, places []place) *slot {
	d.mu.Lock()
	defer d.mu.Unlock()
	slots := slices.DeleteFunc(d.slots[ttl], func(s *slot) bool { return !s.IsUsable() })
	for _, s := range slots {
		if s.room.take(places...) {
			d.slots[ttl] = slots
			return s
		}
	}
	s := &slot{Slot: leased.NewSlot[*session](), room: room{most: d.room}}
	s.room.take(places...)
	d.slots[ttl] = append(slots, s)
	d.running.Go(func() { d.fill(s, ttl) })
	return s
}

// IsAlive reports whether the session is not known to have ended.
func (s *session) IsAlive() bool { return !s.isLost() }

// startTimeout bounds the start of a session.
const startTimeout = 10 * time.Second

// fill starts the session, and looks after it until it has ended.
func (d *Driver) fill(slot *slot, ttl time.Duration) {
	s, err := d.startIn(&slot.room, ttl)
	slot.Fill(s, err)
	if err == nil {
		s.keep()
	}
	d.drop(slot, ttl)
}

// startIn starts a session for claims of this TTL. One that a server replaces meanwhile is followed by another.
func (d *Driver) startIn(room *room, ttl time.Duration) (s *session, err error) {
	ctx, cancel := context.WithTimeout(d.lifetime, max(startTimeout, ttl))
	defer cancel()
	pace := driver.Backoff{First: firstPause, Most: startTimeout}
	for {
		s, err = d.startOnce(ctx, room, ttl)
		if !errors.Is(err, errReplaced) || pace.Pause(ctx) != nil {
			return s, err
		}
	}
}

// firstPause comes before another session is asked for in place of one that was replaced: a server may replace each.
const firstPause = 10 * time.Millisecond

func (d *Driver) startOnce(ctx context.Context, room *room, ttl time.Duration) (*session, error) {
	s, err := d.start(ctx, sessionTime(ttl))
	if err != nil {
		return nil, err
	}
	s.asked, s.room = ttl, room
	if err := s.settle(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// drop forgets a slot whose session has ended or has not begun: nobody may ask for this TTL again.
func (d *Driver) drop(over *slot, ttl time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := slices.DeleteFunc(d.slots[ttl], func(s *slot) bool { return s == over })
	if d.slots[ttl] = left; len(left) == 0 {
		delete(d.slots, ttl)
	}
}

// start connects a session that should live so long.
func (d *Driver) start(ctx context.Context, timeout time.Duration) (*session, error) {
	return d.startAt(ctx, d.hosts, timeout)
}

// startAt is start with these servers.
func (d *Driver) startAt(ctx context.Context, hosts []string, timeout time.Duration) (*session, error) {
	s := &session{
		d: d, link: d.newLink(hosts, timeout), lost: make(chan struct{}),
		back: make(chan struct{}), watches: make(map[spot]*watch), used: leased.Now(),
	}
	s.link.replaced = func() { s.lose(errReplaced) }
	up := s.nextConnection() // before it connects, which it does in the background
	conn, _, err := zk.Connect(hosts, timeout, zk.WithDialer(s.link.dial), zk.WithHostProvider(s.link),
		zk.WithEventCallback(s.onEvent), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	s.conn = conn
	select {
	case <-up:
	case <-s.link.refused:
		s.end()
		return nil, s.link.refusal
	case <-ctx.Done():
		s.end()
		return nil, s.link.absence(ctx.Err())
	}
	s.id = conn.SessionID()
	s.time = time.Duration(s.link.granted.Load()) * time.Millisecond
	s.ttl = (s.time - slack(s.time)).Truncate(time.Millisecond)
	return s, nil
}

// silent keeps the library from logging: what matters comes as errors.
type silent struct{}

func (silent) Printf(string, ...any) {}

// settle makes a session that is up ready for claims.
func (s *session) settle(ctx context.Context) error {
	if s.ttl < s.asked {
		return fmt.Errorf("%w: the server lets sessions live for no longer than %v; use a TTL of %v or less, "+
			"or raise its maxSessionTimeout",
			driver.ErrRefused, s.time, s.ttl)
	}
	return s.makeBeat(ctx)
}

// sure is how much of this TTL a claim surely has whose request was sent at this instant, and was answered.
func (s *session) sure(ttl time.Duration, sent leased.Instant) time.Duration {
	return max(ttl-sent.Sub(s.link.counted(sent)), time.Millisecond)
}

// makeBeat makes the session's node, unless it is there: an earlier attempt, or another heartbeat, may have made it.
func (s *session) makeBeat(ctx context.Context) error {
	at := s.d.keys.beat(s.id)
	for {
		_, err := call(ctx, s, func(c *zk.Conn) (string, error) { return c.Create(at, nil, zk.FlagEphemeral, s.d.acl) })
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			return nil
		case !isNoNode(err):
			return err
		}
		if err := s.makeParent(ctx, path.Dir(at)); err != nil {
			return err
		}
	}
}

// onEvent is called by the library when the state of the connection changed, and for each event of a watch, before
// that is told to who began the watch.
func (s *session) onEvent(e zk.Event) {
	switch {
	case e.Type != zk.EventSession:
		s.subscriptions.notify(e.Path)
	case e.State == zk.StateDisconnected:
		s.noteConnection(false)
	case e.State == zk.StateHasSession:
		s.noteConnection(true)
		s.mu.Lock()
		close(s.back)
		s.back = make(chan struct{})
		s.mu.Unlock()
		s.subscriptions.notifyAll() // what happened meanwhile is told if the library could ask for it
	case e.State == zk.StateExpired:
		s.lose(errExpired)
		s.d.running.Go(s.end) // before it begins another session
	}
}

// nextConnection is closed when the session was connected anew.
func (s *session) nextConnection() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.back
}

func (s *session) isLost() bool { return leased.IsClosed(s.lost) }

// lose notes that the session is gone, and why if that is not by this client's wish. The claims of this session are
// gone too.
func (s *session) lose(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseLocked(cause)
}

func (s *session) loseLocked(cause error) {
	s.link.close()
	if !s.isLost() {
		s.cause = cause
		close(s.lost)
		s.subscriptions.notifyAll()
	}
}

// lossError is errSessionLost with the cause, for a session that is lost.
func (s *session) lossError() error {
	if s.cause == nil {
		return errSessionLost
	}
	return fmt.Errorf("%w: %w", errSessionLost, s.cause)
}

// end ends the session, and the claims that are left with it. Where the server cannot be told, it notices after the
// session's time. That it is gone is noted first: nobody should begin what ends at once.
func (s *session) end() {
	s.lose(nil)
	if s.link.isUp() {
		s.conn.Close()
		s.link.breakOff() // a server that says nothing would keep the library reading
		return
	}
	s.d.running.Go(func() { s.link.leave(s.conn.Close) })
}

// use lets the session live a while longer. It reports whether it is not gone.
func (s *session) use() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = leased.Now()
	return !s.isLost()
}

// engage keeps the session from being given up until the caller is done, however long that takes.
func (s *session) engage() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engaged++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.engaged--
		s.used = leased.Now()
	}
}

func (s *session) usedAt() leased.Instant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Parts of a session's time.
const (
	keepPart  = 3 // between two looks at what is due
	idleTimes = 2 // kept this many times its time after its last use, so that notes of ends live for a TTL
)

// keep does what is due from time to time, until the session is lost, or nothing used it for a while. It ends the
// session with the driver too, for Close does not see one that is not ready.
func (s *session) keep() {
	tick := time.NewTicker(s.time / keepPart)
	defer tick.Stop()
	defer s.end()
	for !s.retire() {
		select {
		case <-tick.C:
			if s.isAway() {
				s.findForgotten()
			} else {
				s.sweep()
			}
		case <-s.lost:
			return
		case <-s.d.lifetime.Done():
			return
		}
	}
}

// retire gives the session up, and reports so, when nothing lives by it but notes that have served. Somebody may
// wait for what it watches. Whoever would use it next begins another one.
func (s *session) retire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engaged > 0 || len(s.watches) > 0 || leased.Now().Sub(s.used) <= idleTimes*s.time {
		return false
	}
	s.loseLocked(nil)
	return true
}

// heartbeat writes to the session's node. The answer says that the session had not ended when the leader read this,
// which pings do not: those, a server answers that has lost its leader. What is read in the session afterwards is at
// least as new as this. Returned is the leader's clock.
func (s *session) heartbeat(ctx context.Context) (time.Time, error) {
	s.use()
	path := s.d.keys.beat(s.id)
	for {
		stat, err := ask(ctx, s, func(c *zk.Conn) (*zk.Stat, error) { return c.Set(path, nil, -1) })
		if err == nil {
			return time.UnixMilli(stat.Mtime), nil
		}
		if errors.Is(err, zk.ErrNoNode) { // somebody has deleted it
			err = s.makeBeat(ctx)
		}
		if err != nil {
			return time.Time{}, err
		}
	}
}
