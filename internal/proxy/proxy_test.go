package proxy_test

import (
	"errors"
	"io"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

func TestPassesOn(t *testing.T) {
	e, p := between(t)
	a, b := dialOnly(t, p), dialOnly(t, p)
	a.call("one")
	b.call("two")
	e.got(t, "one", "two")
}

func TestPassesEndsOn(t *testing.T) {
	t.Run("of clients", func(t *testing.T) {
		e, p := between(t)
		c := dial(t, e, p)
		c.say("last")
		c.CloseWrite()
		if got, err := c.hear(long); got != "last" || err != nil {
			t.Errorf("what was said before the end is answered with %q, %v", got, err)
		}
		if err := next(t, e.ends); err != io.EOF {
			t.Errorf("the server sees %v, want the end", err)
		}
		c.ends()
	})
	t.Run("of servers", func(t *testing.T) {
		e, p := between(t)
		c := dial(t, e, p)
		next(t, e.conns).Close()
		c.ends()
	})
	t.Run("without a server", func(t *testing.T) {
		dialOnly(t, proxy.New(t, "127.0.0.1:1")).ends()
	})
}

func TestBlackHole(t *testing.T) {
	e, p := between(t)
	open, leaves := dial(t, e, p), dial(t, e, p)
	served := next(t, e.conns)
	p.BlackHole()
	fresh := dialOnly(t, p)
	for _, c := range []*caller{open, fresh} {
		c.say("vanishes")
		c.hearsNothing()
	}
	leaves.Close()
	io.WriteString(served, "vanishes too\n")
	open.hearsNothing()
	e.got(t)
	select {
	case err := <-e.ends:
		t.Errorf("the server sees through the hole that its client left: %v", err)
	default:
	}

	p.Heal()
	for _, c := range []*caller{open, fresh} {
		c.ends() // its stream has a gap
	}
	for range 3 {
		next(t, e.ends)
	}
	dial(t, e, p)
}

func TestSwallowOpen(t *testing.T) {
	e, p := between(t)
	open, leaves := dial(t, e, p), dial(t, e, p)
	served := next(t, e.conns)
	p.SwallowOpen()
	fresh := dial(t, e, p)
	open.say("vanishes")
	io.WriteString(served, "vanishes too\n")
	leaves.Close()
	open.hearsNothing()
	fresh.call("passes")
	e.got(t, "passes")
	select {
	case err := <-e.ends:
		t.Errorf("the server learns that its client left: %v", err)
	default:
	}

	p.Heal()
	open.ends()
	fresh.call("still passes")
}

func TestBlackHoleAnswers(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.BlackHoleAnswers()
	c.say("applied")
	c.hearsNothing()
	e.got(t, "applied")
	p.Heal()
	c.ends()
}

func TestDelay(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	const d = 20 * time.Millisecond
	p.Delay(d)
	start := time.Now()
	c.say("slow")
	if got := next(t, e.lines); got != "slow" || time.Since(start) < d {
		t.Errorf("%q arrived after %v, want %v", got, time.Since(start), d)
	}
	if got, err := c.hear(long); got != "slow" || err != nil || time.Since(start) < 2*d {
		t.Errorf("heard %q, %v, after %v, want %v", got, err, time.Since(start), 2*d)
	}
	p.Heal()
	c.call("the connection goes on")
}

func TestReset(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.Reset()
	err := c.ends()
	if runtime.GOOS == "linux" && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client sees %v, want a reset", err)
	}
	if next(t, e.ends) == io.EOF && runtime.GOOS == "linux" {
		t.Error("the server sees an end, want a reset")
	}
	dial(t, e, p)
}

func TestLead(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	c.call("one")
	other := startEcho(t)
	p.Lead(other.addr)
	if err := c.ends(); err == nil {
		t.Error("the connection ended in peace")
	}
	dial(t, other, p).call("two")
	other.got(t, "two")
	e.got(t, "one")
}

// A connection that is just being made leads to where the others lead, or nowhere.
func TestLeadWhileConnecting(t *testing.T) {
	e, p := between(t)
	for range 200 {
		other := startEcho(t)
		c := dialOnly(t, p)
		next(t, e.conns)
		p.Lead(other.addr)
		c.say("two")
		_, _ = c.hear(long) // or its end
		c.Close()
		e.got(t)
		e = other
	}
}

func TestDropNextReplyAfter(t *testing.T) {
	e, p, a, b := betweenTwo(t)
	p.DropNextReplyAfter([]byte("this one"))
	a.call("another")
	a.say("this one")
	a.ends()
	b.call("this one") // the fault does not hit twice
	e.got(t, "another", "this one", "this one")
}

func TestHangNextReplyAfter(t *testing.T) {
	e, p, a, b := betweenTwo(t)
	p.HangNextReplyAfter([]byte("this one"))
	a.call("another")
	a.say("this one")
	a.hearsNothing()
	a.say("and after")
	a.hearsNothing()
	next(t, e.conns).Close()
	a.hearsNothing()
	b.call("this one")
	e.got(t, "another", "this one", "and after", "this one")
}

func TestDesertNextReplyAfter(t *testing.T) {
	e, p, a, b := betweenTwo(t)
	p.DesertNextReplyAfter([]byte("this one"))
	a.say("this one")
	a.ends()
	select {
	case err := <-e.ends:
		t.Errorf("the server learns that its client is gone: %v", err)
	case <-time.After(soon):
	}
	b.call("this one")
	e.got(t, "this one", "this one")
}

func TestFindsRequestsInPieces(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.DropNextReplyAfter([]byte("this one"))
	p.Count(proxy.Bytes)
	for i, piece := range []string{"th", "is o", "ne\n"} {
		io.WriteString(c, piece)
		awaitCount(t, p, []int{2, 6, 9}[i]) // so that the next is a piece of its own
	}
	c.ends()
	e.got(t, "this one")
}

func TestHealDisarms(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.DropNextReplyAfter([]byte("this one"))
	p.Heal()
	c.call("this one")
}

func awaitCount(t *testing.T, p *proxy.Proxy, want int) {
	t.Helper()
	for limit := time.Now().Add(long); p.Counted() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("counted %d, want %d", p.Counted(), want)
		}
	}
}
