package caddylock_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/caddylock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// provision loads the module as Caddy does, from the block of a Caddyfile.
func provision(t *testing.T, block string) (certmagic.Storage, error) {
	t.Helper()
	d := caddyfile.NewTestDispenser("storage " + block)
	d.Next()
	d.Next()
	module, err := caddyfile.UnmarshalModule(d, "caddy.storage.holdfast")
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(module)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel) // which cleans up
	loaded, err := ctx.LoadModuleByID("caddy.storage.holdfast", config)
	if err != nil {
		return nil, err
	}
	return loaded.(*caddylock.Storage).CertMagicStorage()
}

func caddyfileFor(t *testing.T, url, folder string) string {
	return "holdfast {\n\turl " + url + "\n\tttl 20s\n\tstorage file_system " + folder + "\n}"
}

// Two servers with one storage exclude each other, and share what is stored.
func TestServersShare(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("LOCKS", "mem:caddy-share")
	a, err := provision(t, caddyfileFor(t, "{env.LOCKS}", folder))
	if err != nil {
		t.Fatal(err)
	}
	b, err := provision(t, caddyfileFor(t, "mem:caddy-share", folder))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	if ok, err := b.(certmagic.TryLocker).TryLock(t.Context(), "issue"); ok || err != nil {
		t.Errorf("both have the lock: %v, %v", ok, err)
	}
	if err := a.Store(t.Context(), "key", []byte("value")); err != nil {
		t.Error(err)
	}
	if v, err := b.Load(t.Context(), "key"); string(v) != "value" || err != nil {
		t.Errorf("loaded %q, %v", v, err)
	}
	err = errors.Join(
		a.Unlock(t.Context(), "issue"), b.Lock(t.Context(), "issue"), b.Unlock(t.Context(), "issue"))
	if err != nil {
		t.Error(err)
	}
}

// A server whose lock is taken away while it works is told when it unlocks.
func TestLoss(t *testing.T) {
	s, err := provision(t, caddyfileFor(t, "mem:caddy-loss", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	admin, err := holdfast.Open(t.Context(), "mem:caddy-loss")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	queue, err := admin.Queue(t.Context(), "issue")
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Break(t.Context(), "issue", queue[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Unlock(t.Context(), "issue"); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("it was told %v", err)
	}
}

// A TTL with which no lock can be had is found when the configuration is read, and not when a certificate ends.
func TestTTLThatNoLockCanHave(t *testing.T) {
	block := strings.Replace(caddyfileFor(t, "mem:caddy-ttl", t.TempDir()), "ttl 20s", "ttl 50ms", 1)
	if _, err := provision(t, block); err == nil || !strings.Contains(err.Error(), "ttl: ") {
		t.Errorf("50ms: %v", err)
	}
}

func TestBadConfiguration(t *testing.T) {
	folder := t.TempDir()
	for block, want := range map[string]string{
		"holdfast":                                             "needs the url",
		"holdfast {\n\turl mem:x\n}":                           "storage file_system",
		"holdfast {\n\turl\n}":                                 "argument",
		"holdfast {\n\tttl soon\n}":                            "ttl",
		"holdfast {\n\tcolour blue\n}":                         "there are url, ttl and storage",
		"holdfast {\n\tstorage nowhere\n}":                     "caddy.storage.nowhere",
		"holdfast extra":                                       "argument",
		caddyfileFor(t, "nosuch://host", folder):               "nosuch",
		caddyfileFor(t, "redis://user:secret@%zz/", folder):    "caddylock",
		caddyfileFor(t, "nosuch://u:secret@h/?ttl=1", folder):  "nosuch",
		caddyfileFor(t, "{env.NO_SUCH_VARIABLE_HERE}", folder): "NO_SUCH_VARIABLE_HERE",
	} {
		_, err := provision(t, block)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", block, err)
		}
	}
}

// reachable is whether the backends of down: URLs can be reached.
var reachable atomic.Bool

func init() {
	store := memlock.New()
	driver.Register("down", func(ctx context.Context, u *url.URL) (driver.Driver, error) {
		switch {
		case driver.NewParams(u).Err() != nil:
			return nil, driver.NewParams(u).Err()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case u.Host == "refuses":
			return nil, driver.ErrRefused
		case !reachable.Load():
			return nil, errors.New("connection refused")
		}
		return store.Client(), nil
	})
}

// Caddy starts and serves what it has while the backend of the locks is down, and locks once that is there.
func TestBackendIsDown(t *testing.T) {
	folder := t.TempDir()
	s, err := provision(t, caddyfileFor(t, "down://store", folder))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store(t.Context(), "key", []byte("value")); err != nil {
		t.Error(err)
	}
	if v, err := s.Load(t.Context(), "key"); string(v) != "value" || err != nil {
		t.Errorf("loaded %q, %v", v, err)
	}
	if err := s.Lock(t.Context(), "issue"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a lock of a backend that is down: %v", err)
	}
	reachable.Store(true)
	other, err := provision(t, caddyfileFor(t, "down://store", folder))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	if ok, err := other.(certmagic.TryLocker).TryLock(t.Context(), "issue"); ok || err != nil {
		t.Errorf("both have the lock: %v, %v", ok, err)
	}
	if err := s.(certmagic.LockLeaseRenewer).RenewLockLease(t.Context(), "issue", 0); err != nil {
		t.Error(err)
	}
	if err := s.Unlock(t.Context(), "issue"); err != nil {
		t.Error(err)
	}
}

// A configuration that can never work is refused, and so is one that the backend refuses.
func TestBackendThatIsNotMeant(t *testing.T) {
	for backend, want := range map[string]string{
		"down://store?colour=blue": "unknown parameter", "down://refuses": driver.ErrRefused.Error(),
		"down://one,,two": "hosts is empty",
	} {
		_, err := provision(t, caddyfileFor(t, backend, t.TempDir()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", backend, err, want)
		}
	}
}
