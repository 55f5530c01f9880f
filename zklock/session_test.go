package zklock

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A client has lost the session in which its request was queued, and the server does not know that yet. No renewal of
// the client would keep the claim from ending with that session, so it is not granted, but it can be undone.
func TestClaimInALostSession(t *testing.T) {
	t.Parallel()
	addr := Server(t).Addr
	p := proxy.New(t, addr)
	d, other := inside(t, p.Addr), inside(t, addr)
	c, next := mutexClaim("job", time.Minute), mutexClaim("job", time.Minute)
	next.ID = "c2"
	if st, err := d.Request(t.Context(), c); err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	e := d.claims.Known(c)
	p.SwallowOpen()
	e.s.lose(errReplaced)
	d.claims.Forget(e) // as if the loss were the answer to its first request
	if st, err := d.Request(t.Context(), c); err == nil || driver.IsAnswer(err) {
		t.Errorf("repeating the request answers %+v, %v", st, err)
	}
	if err := d.Release(t.Context(), c); err != nil {
		t.Errorf("undoing it answers %v", err)
	}
	if st, err := other.Request(t.Context(), next); err != nil || !st.Granted {
		t.Errorf("the next claim gets %+v, %v", st, err)
	}
	if _, err := d.Request(t.Context(), c); !isGone(err) {
		t.Errorf("requesting what was undone answers %v", err)
	}
}

// The session was not used for a while, and is about to be closed.
func TestRequestAfterASessionRetires(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	ctx, c := context.Background(), mutexClaim("job", 2*time.Second)
	s, err := d.sessionFor(ctx, c.TTL)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.used = s.used.Add(-2 * idleTimes * s.time)
	s.mu.Unlock()
	if !s.retire() {
		t.Fatal("it does not retire")
	}
	next, err := d.sessionFor(ctx, c.TTL)
	if err != nil || next == s {
		t.Errorf("a request gets the session that has retired; error %v", err)
	}
	s.end()
	if st, err := d.Request(ctx, c); err != nil || !st.Granted {
		t.Errorf("the request answers %+v, %v", st, err)
	}
}

// So is this one, but somebody is asked in it just then, in several steps: a holder to let go of its lock.
func TestQuestionBeforeASessionRetires(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	d, other := inside(t, p.Addr), inside(t, p.Addr)
	held := mutexClaim("job", time.Minute)
	if _, err := other.Request(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	s, err := d.sessionFor(t.Context(), time.Minute) // which looks seldom whether to retire
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.used = s.used.Add(-2 * idleTimes * s.time)
	s.mu.Unlock()
	asked := p.HoldNext([]byte(revokeWord))
	answered := make(chan error)
	go func() { answered <- d.Revoke(t.Context(), held.Name, held.ID) }()
	<-asked.Caught()
	if s.retire() {
		t.Error("it retires")
	}
	asked.Deliver(t)
	if err := <-answered; err != nil {
		t.Errorf("Revoke: %v", err)
	}
}

// A question may take longer than a session lives without use, such as one about a million locks.
func TestLongQuestionInASession(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(ctx context.Context, d *Driver) error{
		"list": func(ctx context.Context, d *Driver) (err error) {
			for _, failed := range d.List(ctx, "") {
				err = errors.Join(err, failed)
			}
			return err
		},
		"reap": func(ctx context.Context, d *Driver) error {
			_, err := d.Reap(ctx, 0)
			return err
		},
	} {
		p := proxy.New(t, Server(t).Addr)
		d, other := inside(t, p.Addr), inside(t, p.Addr)
		if _, err := other.Request(t.Context(), mutexClaim("the-job", time.Minute)); err != nil {
			t.Fatal(err)
		}
		s, err := d.sessionFor(t.Context(), time.Minute) // which looks seldom whether to retire
		if err != nil {
			t.Fatal(err)
		}
		about := p.HoldNext([]byte("the-job"))
		answered := make(chan error)
		go func() { answered <- ask(t.Context(), d) }()
		<-about.Caught()
		s.mu.Lock()
		s.used = s.used.Add(-2 * idleTimes * s.time)
		s.mu.Unlock()
		if s.retire() {
			t.Errorf("%s: it retires", name)
		}
		about.Deliver(t)
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each TTL has sessions of its own. Of those that have ended, and of one that did not begin, nothing stays, though
// nobody asks for these TTLs again.
func TestNothingStaysOfSessions(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	for ttl := 50 * time.Second; ttl < 50*time.Second+3; ttl++ {
		s, err := d.sessionFor(t.Context(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		s.end()
	}
	if _, err := d.sessionFor(t.Context(), time.Hour); err == nil {
		t.Error("a session begins for a TTL that the server does not grant")
	}
	eventually(t, "the sessions are forgotten", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.slots) == 0
	})
}

// A session ends, and the server cannot be told.
func TestEndIsNotedFirst(t *testing.T) {
	t.Parallel()
	addr := Server(t).Addr
	pace.Run(t, "end", func(t *pace.T) { endIsNotedFirst(t, addr) })
}

func endIsNotedFirst(t *pace.T, addr string) {
	p := proxy.New(t, addr)
	d := inside(t, p.Addr)
	s, err := d.sessionFor(context.Background(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	p.BlackHole()
	t.Margin(100 * time.Millisecond)
	ended := make(chan struct{})
	go func() { // takes a second
		s.end()
		close(ended)
	}()
	select {
	case <-s.lost:
	case <-time.After(500 * time.Millisecond):
		t.Error("until it has ended, the session is there for requests")
	}
	p.Heal()
	<-ended
}

// Close comes when a session is up, but its slot is not ready yet.
func TestCloseMissesNoSession(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	s, err := d.sessionFor(context.Background(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	clear(d.slots)
	d.mu.Unlock()
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !s.isLost() {
		t.Error("the session goes on after Close")
	}
}

// Whoever may delete the node of a session costs no renewal, however many are under way.
func TestHeartbeatsAfterTheNodeIsDeleted(t *testing.T) {
	t.Parallel()
	s, err := inside(t, Server(t).Addr).sessionFor(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := s.conn.Delete(s.d.keys.beat(s.id), -1); err != nil {
			t.Fatal(err)
		}
		beat := func() error {
			_, err := s.heartbeat(t.Context())
			return err
		}
		if err := together(slices.Repeat([]func() error{beat}, 16)...); err != nil {
			t.Fatalf("heartbeats: %v", err)
		}
	}
}

// A session that ends while it is asked about others' claims, as one of a short TTL may on a busy machine, is no reason
// to answer with an error: there are others.
func TestQuestionsOutliveTheirSession(t *testing.T) {
	t.Parallel()
	another := mutexClaim("job", time.Minute)
	another.Token = 1
	expected := func(err error) error { // nobody has that claim
		if errors.Is(err, driver.ErrGone) {
			return nil
		}
		return cmp.Or(err, errors.New("it is there"))
	}
	p := proxy.New(t, Server(t).Addr)
	d := inside(t, p.Addr)
	for what, ask := range map[string]func(ctx context.Context) error{
		"Queue": func(ctx context.Context) error {
			_, err := d.Queue(ctx, "job")
			return err
		},
		"Value": func(ctx context.Context) error {
			_, err := d.Value(ctx, "job")
			return err
		},
		"List": func(ctx context.Context) (failed error) {
			for _, err := range d.List(ctx, "") {
				failed = errors.Join(failed, err)
			}
			return failed
		},
		"Notes": func(ctx context.Context) error {
			_, err := d.Notes(ctx, "job")
			return err
		},
		"Break":   func(ctx context.Context) error { return expected(d.Break(ctx, "job", "c1")) },
		"Revoke":  func(ctx context.Context) error { return expected(d.Revoke(ctx, "job", "c1")) },
		"Release": func(ctx context.Context) error { return expected(d.Release(ctx, another)) },
		"SetValue": func(ctx context.Context) error {
			return expected(d.SetValue(ctx, another, driver.Value{Text: "text", Token: another.Token}))
		},
	} {
		s, err := d.asking(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held := p.HoldNext([]byte(d.keys.root))
		answered := make(chan error)
		go func() { answered <- ask(t.Context()) }()
		<-held.Caught()
		s.lose(nil)
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// In an outage claims expire, which their client tries again and again to take out of their queues, while somebody
// waits for another lock in their session. No attempt stays when its time is over.
func TestAttemptsInAnOutage(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	d := inside(t, p.Addr)
	const claims, attempts = 20, 10
	c := mutexClaim("job", time.Second)
	for i := range claims {
		c.ID = fmt.Sprint("c", i)
		if _, err := d.Request(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	s := d.claims.Known(c).s
	p.BlackHole()
	c.ID = "waits"
	for range attempts {
		ctx, cancel := context.WithTimeout(t.Context(), s.time/attemptPart+100*time.Millisecond)
		d.Request(ctx, c) // in vain
		<-ctx.Done()
		cancel()
	}
	var stacks bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	if n := strings.Count(stacks.String(), "zk.(*Conn).request("); n > claims*attempts/4 {
		t.Errorf("%d requests of %d claims are under way", n, claims)
	}
}
