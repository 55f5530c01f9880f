package claimstest

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A claim is not tied to a connection: when the server ends all of them, the holder keeps its lock, and whoever waits
// is granted it when it is released.
func testSessionsKilled(t *testing.T, s Store) {
	db := s.admin(t)
	holder, waiter := s.client(t), s.client(t)
	held, next := request(t, holder, mutex(t.Name()), true), request(t, waiter, mutex(t.Name()), false)
	granted := make(chan driver.Status, 1)
	go func() { granted <- await(t, waiter, next) }()
	for range 3 {
		eventually(t, "somebody waits in the server", func() bool { return number(t, db, s.Sleeping) == 1 })
		s.KillAll(t, db)
		eventually(t, "the holder renews", func() bool {
			st, err := holder.Request(t.Context(), held)
			return err == nil && st.Granted && st.Token == held.Token
		})
	}
	eventually(t, "the lock is released", func() bool { return holder.Release(t.Context(), held) == nil })
	if st := <-granted; st.Token != next.Token {
		t.Errorf("token %d, want %d", st.Token, next.Token)
	}
}

// When an answer is lost, asking again with the same claim tells what became of it.
func testAnswerLost(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d, other := s.clientAt(t, p.Addr), s.client(t)
	db := s.admin(t)
	for range 3 {
		c := mutex(t.Name())
		release(t, d, request(t, d, c, true)) // the statements are prepared

		c = mutex(t.Name())
		p.DropNextReplyAfter([]byte(c.ID))
		st, err := d.Request(t.Context(), c)
		if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrGone) {
			t.Fatalf("a request without an answer: %+v, %v; want an error that is no answer", st, err)
		}
		request(t, other, tryOnly(mutex(t.Name())), false) // it was applied
		// As long as the session that has ended keeps the wake lock, another one that asks for the claim takes none.
		// When it releases the claim, PostgreSQL says so before the release is committed, which is no answer.
		eventually(t, "the session has ended", func() bool { return number(t, db, s.WakeLock(c.ID, "end")) == 0 })
		held := request(t, d, c, true)

		p.DropNextReplyAfter([]byte(c.ID))
		err = d.Release(t.Context(), held)
		if err == nil || errors.Is(err, driver.ErrGone) {
			t.Fatalf("a release without an answer: %v", err)
		}
		next := mutex(t.Name())
		st, failed := other.Request(t.Context(), next)
		if failed != nil || !st.Granted {
			t.Fatalf("after a release that was applied and said %q: %+v, %v", err, st, failed)
		}
		next.Token = st.Token
		release(t, d, held)
		release(t, other, next)
	}
}

func tryOnly(c driver.Claim) driver.Claim {
	c.Queue = false
	return c
}

// A caller who gives up returns at once, though the server is silent, and what it asked for can be undone later.
func testCancelled(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d, other := s.clientAt(t, p.Addr), s.client(t)
	release(t, d, request(t, d, mutex(t.Name()), true))
	c := mutex(t.Name())
	p.HangNextReplyAfter([]byte(c.ID))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := d.Request(ctx, c)
		failed <- err
	}()
	eventually(t, "the server has the claim", func() bool {
		queue, err := other.Queue(t.Context(), c.Name)
		return err == nil && len(queue) == 1
	})
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatalf("Request: %v, want the context's error", err)
	}
	waiting := request(t, other, mutex(t.Name()), false)
	release(t, d, c)
	await(t, other, waiting)
}
