package certmagiclock_test

import (
	"context"
	"crypto/x509"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
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

// lose takes the lock away from whoever holds it.
func lose(t *testing.T, client *holdfast.Client, name string) {
	t.Helper()
	queue, err := client.Queue(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range queue {
		if err := client.Break(t.Context(), name, e.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate whose lock is lost between two attempts is obtained all the same: CertMagic goes on with that job for a
// month, and begins no other for the name.
func TestLossBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, asked := holdfast.New(memlock.New()), 0
		defer client.Close(context.Background())
		cache := certmagic.NewCache(certmagic.CacheOptions{
			GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return nil, nil },
		})
		defer cache.Stop()
		config := certmagic.New(cache, certmagic.Config{
			Storage: certmagiclock.Wrap(&certmagic.FileStorage{Path: t.TempDir()}, client),
			Issuers: []certmagic.Issuer{busy(func() {
				asked++
				lose(t, client, "issue_cert_example.com")
			})},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if err := config.ObtainCertAsync(ctx, "example.com"); err == nil || asked < 2 {
			t.Errorf("the issuer was asked %d times in a day: %v", asked, err)
		}
	})
}

// A busy issuer issues nothing.
type busy func()

func (b busy) Issue(context.Context, *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	b()
	return nil, errors.New("try again later")
}

func (busy) IssuerKey() string { return "busy" }

// A lock that another has got since it was lost stays lost, until that one has given it back.
func TestRenewalOfWhatAnotherHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		client, other := holdfast.New(store.Client()), holdfast.New(store.Client())
		defer client.Close(context.Background())
		defer other.Close(context.Background())
		s := certmagiclock.Wrap(&certmagic.FileStorage{Path: t.TempDir()}, client)
		if err := s.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		lose(t, other, "issue")
		lease, err := other.Mutex("issue").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RenewLockLease(t.Context(), "issue", time.Hour); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("what another has was renewed: %v", err)
		}
		err = errors.Join(lease.Release(t.Context()), s.RenewLockLease(t.Context(), "issue", time.Hour))
		if err != nil {
			t.Error(err)
		}
		if _, err := other.Mutex("issue").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("beside the lock that was taken again: %v", err)
		}
		if err := s.Unlock(t.Context(), "issue"); err != nil {
			t.Error(err)
		}
	})
}

// A renewal that the backend does not answer ends, though its context does not.
func TestRenewalWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		client := holdfast.New(batch.Intercept(memlock.New(),
			func(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
				if op.Kind != driver.OpRequest || !hangs.Load() {
					return next(op)
				}
				<-ctx.Done()
				return driver.Result{Err: ctx.Err()}
			}))
		defer client.Close(context.Background())
		s := certmagiclock.Wrap(&certmagic.FileStorage{Path: t.TempDir()}, client)
		if err := s.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		hangs.Store(true)
		began := time.Now()
		err := s.RenewLockLease(context.Background(), "issue", time.Hour)
		if took := time.Since(began); err == nil || took > time.Minute {
			t.Errorf("after %v it returned %v", took, err)
		}
	})
}
