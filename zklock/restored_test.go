package zklock

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// shutOut breaks the connection of a session, which servers turn away from then on, and waits until its time is over.
func shutOut(t *testing.T, s *session, turnAway func()) {
	t.Helper()
	turnAway()
	eventually(t, "servers turn the session away", func() bool { return s.isAway() && s.link.isTurnedAway() })
	s.mu.Lock()
	s.away = s.away.Add(-2 * s.time)
	s.mu.Unlock()
	if !s.isShutOut() {
		t.Fatal("the session is not shut out")
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// mustGoOn checks that a session is back, and has not ended.
func mustGoOn(t *testing.T, s *session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	id := s.conn.SessionID()
	if _, err := s.heartbeat(ctx); err != nil || s.isLost() || id != s.id {
		t.Errorf("session %x became %x, is lost: %v, and its heartbeat answers %v", s.id, id, s.isLost(), err)
	}
}

// An ensemble without a leader turns its clients away for longer than a session's time. It has forgotten nothing.
func TestSessionOutlastsTheLeader(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	d := inside(t, ensemble[0].Addr)
	s, err := d.sessionFor(context.Background(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	others := ensemble[1:]
	shutOut(t, s, func() {
		for _, o := range others {
			o.Kill(t)
		}
	})
	looked := make(chan struct{})
	go func() { // ends when the session is back
		s.findForgotten()
		close(looked)
	}()
	for _, o := range others {
		o.Restart(t)
	}
	mustGoOn(t, s)
	<-looked
	mustGoOn(t, s)
}

// A server has room for new sessions, and turns one away that has seen no more than it tells.
func TestSessionThatIsTurnedAwayForAWhile(t *testing.T) {
	t.Parallel()
	d := inside(t, servers.ZooKeeper(t).Addr)
	var shut atomic.Bool
	var newest atomic.Pointer[net.Conn]
	d.opts.Dial = func(network, address string, timeout time.Duration) (net.Conn, error) {
		conn, err := net.DialTimeout(network, address, timeout)
		if err == nil && newest.CompareAndSwap(nil, &conn) {
			return conn, nil // of the first session, at first
		}
		return &strict{Conn: conn, shut: &shut}, err
	}
	s, err := d.sessionFor(context.Background(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	shutOut(t, s, func() {
		shut.Store(true)
		(*newest.Load()).Close()
	})
	s.findForgotten()
	if s.isLost() {
		t.Error("a session is lost of which the server has forgotten nothing")
	}
	shut.Store(false)
	mustGoOn(t, s)
}

// A strict connection ends before a greeting, while it is shut, where it is for a session that was there before.
type strict struct {
	net.Conn
	shut    *atomic.Bool
	greeted bool
}

// sessionAt is where the request that opens a connection names the session: behind its length, a version, the newest
// change and the timeout.
const sessionAt = 4 + 4 + 8 + 4

func (c *strict) Write(b []byte) (int, error) {
	if !c.greeted && c.shut.Load() && binary.BigEndian.Uint64(b[sessionAt:]) != 0 {
		c.Conn.Close()
		return len(b), nil
	}
	c.greeted = true
	return c.Conn.Write(b)
}
