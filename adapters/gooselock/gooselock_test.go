package gooselock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/gooselock"
	"github.com/holdfast-go/holdfast/memlock"
)

func newClient(t testing.TB, store *memlock.Driver) *holdfast.Client {
	c := holdfast.New(store.Client())
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func TestOneMigratesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := gooselock.New(newClient(t, store), "shop"), gooselock.New(newClient(t, store), "shop")
		if err := a.Lock(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		locked := make(chan error, 1)
		go func() { locked <- b.SessionLock(t.Context(), nil) }()
		time.Sleep(time.Hour)
		select {
		case err := <-locked:
			t.Errorf("two migrate: %v", err)
		default:
		}
		if err := a.Unlock(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if err := errors.Join(<-locked, b.SessionUnlock(t.Context(), nil)); err != nil {
			t.Error(err)
		}
		if b.Unlock(t.Context(), nil) == nil {
			t.Error("what was not locked was unlocked")
		}
	})
}

// A lock that is lost during the migrations is reported with them.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := gooselock.New(newClient(t, memlock.New()), "shop", holdfast.WithMaxHold(time.Minute))
		if err := l.Lock(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := l.Unlock(t.Context(), nil); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("it ended with %v", err)
		}
	})
}
