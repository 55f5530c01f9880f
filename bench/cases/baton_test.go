package cases

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatonMeasuresTheTimeWithoutHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b baton
		go func() {
			_ = b.take()
			for range 4 {
				time.Sleep(time.Second)
				b.pass()
				time.Sleep(3 * time.Millisecond)
				_ = b.take()
			}
		}()
		b.follow(t.Context(), 1)
		got := b.follow(t.Context(), 2)
		if len(got) != 2 || got[0] != 3*time.Millisecond || got[1] != 3*time.Millisecond {
			t.Errorf("follow(2) = %v, want 3ms twice: holding the lock is no idle time", got)
		}
		b.follow(t.Context(), 1)
	})
}

func TestBatonCountsAHandoffThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b baton
		_ = b.take()
		b.pass()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := b.follow(ctx, 3); len(got) != 1 || got[0] != time.Second {
			t.Errorf("follow = %v, want 1s: as long as nobody was seen to have the lock", got)
		}
	})
}

func TestBatonFindsTwoHolders(t *testing.T) {
	var b baton
	if err := b.take(); err != nil {
		t.Fatal(err)
	}
	if err := b.take(); err == nil {
		t.Error("a second holder was not noticed")
	}
}
