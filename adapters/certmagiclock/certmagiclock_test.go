package certmagiclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		files := &certmagic.FileStorage{Path: t.TempDir()}
		open := func() *certmagiclock.Storage {
			c := holdfast.New(store.Client())
			t.Cleanup(func() { c.Close(context.Background()) })
			return certmagiclock.Wrap(files, c)
		}
		a, b := open(), open()
		if err := a.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		if ok, err := b.TryLock(t.Context(), "issue"); ok || err != nil {
			t.Errorf("a lock that is held: %v, %v", ok, err)
		}
		got := make(chan error)
		go func() { got <- b.Lock(t.Context(), "issue") }()
		time.Sleep(time.Hour) // it is renewed for as long as it takes
		select {
		case err := <-got:
			t.Errorf("locked twice: %v", err)
		default:
		}
		if err := a.RenewLockLease(t.Context(), "issue", time.Minute); err != nil {
			t.Error(err)
		}
		if err := a.Unlock(t.Context(), "issue"); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
		if err := b.Unlock(t.Context(), "issue"); err != nil {
			t.Error(err)
		}
		if a.Unlock(t.Context(), "issue") == nil || a.RenewLockLease(t.Context(), "issue", time.Minute) == nil {
			t.Error("a lock that is not held was unlocked or renewed")
		}
		if err := a.Store(t.Context(), "key", []byte("value")); err != nil {
			t.Error(err)
		}
		if v, err := b.Load(t.Context(), "key"); string(v) != "value" || err != nil {
			t.Errorf("loaded %q, %v", v, err)
		}
	})
}

// Who lost the lock to another user of the same storage is told, and gives back nothing of the other's.
func TestUnlockAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := holdfast.New(memlock.New())
		t.Cleanup(func() { client.Close(context.Background()) })
		s := certmagiclock.Wrap(&certmagic.FileStorage{Path: t.TempDir()}, client)
		held := func() []holdfast.Entry {
			queue, err := client.Queue(t.Context(), "issue")
			if err != nil {
				t.Fatal(err)
			}
			return queue
		}
		if err := s.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		if err := client.Break(t.Context(), "issue", held()[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := s.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		if err := s.Unlock(t.Context(), "issue"); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("who lost the lock was told %v", err)
		}
		if len(held()) != 1 {
			t.Error("the lock of the other was given back")
		}
		if err := s.Unlock(t.Context(), "issue"); err != nil {
			t.Error(err)
		}
	})
}
