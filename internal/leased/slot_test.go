package leased

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type lease struct{ alive bool }

func (l *lease) IsAlive() bool { return l.alive }

func TestSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := NewSlot[*lease](), &lease{alive: true}
		if _, ok := s.Lease(); ok || !s.IsUsable() {
			t.Error("a lease on its way is there, or not worth waiting for")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Await(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for a lease on its way: %v", err)
		}
		s.Fill(l, nil)
		if got, err := s.Await(t.Context()); got != l || err != nil || !s.IsUsable() {
			t.Errorf("%v, %v", got, err)
		}
		if l.alive = false; s.IsUsable() {
			t.Error("a lease that has ended is used")
		}
	})
}

func TestSlotThatFailed(t *testing.T) {
	s, fault := NewSlot[*lease](), errors.New("refused")
	s.Fill(nil, fault)
	if _, err := s.Await(t.Context()); err != fault || s.IsUsable() {
		t.Errorf("error %v", err)
	}
	if _, ok := s.Lease(); ok {
		t.Error("there is a lease")
	}
}

// Close waits for what goes on, and for nothing that begins afterwards.
func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		over, waited := make(chan struct{}), false
		g.Go(func() { <-over })
		go func() { // ends when the group is empty
			g.Wait()
			waited = true
		}()
		synctest.Wait()
		late := false
		g.Go(func() { late = true })
		if synctest.Wait(); !late || waited {
			t.Errorf("what began late ran: %v; Wait returned: %v", late, waited)
		}
		close(over)
		if synctest.Wait(); !waited {
			t.Error("Wait hangs")
		}
	})
}
