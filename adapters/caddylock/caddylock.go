// Package caddylock is a Caddy module: storage whose locks are Holdfast's. If several servers share certificates, one
// of them renews each.
//
//	xcaddy build --with github.com/holdfast-go/holdfast/adapters/caddylock \
//	             --with github.com/holdfast-go/holdfast/redislock
//
// In the global options of the Caddyfile, around the storage that has the certificates:
//
//	storage holdfast {
//		url {env.LOCKS}
//		ttl 15s
//		storage file_system /shared/caddy
//	}
//
// and in JSON:
//
//	"storage": {
//		"module": "holdfast", "url": "{env.LOCKS}", "ttl": "15s",
//		"storage": {"module": "file_system", "root": "/shared/caddy"}
//	}
package caddylock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

func init() { caddy.RegisterModule(new(Storage)) }

// Storage is the module caddy.storage.holdfast.
type Storage struct {
	// URL names the backend of the locks, as holdfast.Open takes it. Placeholders such as {env.LOCKS} keep a password
	// out of the configuration. The driver of its scheme must be built in.
	URL string `json:"url,omitempty"`
	// TTL is how long a lock stays taken after its server died: 15 s if zero.
	TTL caddy.Duration `json:"ttl,omitempty"`
	// StorageRaw is the storage that has the data; its own locks are not used.
	StorageRaw json.RawMessage `json:"storage,omitempty" caddy:"namespace=caddy.storage inline_key=module"`

	storage *late
}

// CaddyModule implements [caddy.Module].
func (*Storage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.holdfast", New: func() caddy.Module { return new(Storage) }}
}

// Provision loads the storage with the data, and connects to the backend of the locks. A backend that is down does not
// keep Caddy from starting: certificates that are there are served, and it is tried again when a lock is wanted. A URL
// that can never work does, and a backend that refuses.
func (s *Storage) Provision(ctx caddy.Context) error {
	inner, err := s.load(ctx)
	if err != nil {
		return err
	}
	url, err := caddy.NewReplacer().ReplaceOrErr(s.URL, true, true)
	if err != nil {
		return fmt.Errorf("caddylock: url: %w", err)
	}
	s.storage = newLate(inner, func(ctx context.Context) (*holdfast.Client, error) {
		return holdfast.Open(ctx, url, s.options()...)
	})
	_, err = s.storage.connect(ctx)
	switch {
	case err == nil:
	case errors.Is(err, driver.ErrRefused), isWrong(url):
		return err
	default:
		ctx.Slogger().Warn("the backend of the locks cannot be reached; certificates are served, "+
			"and none is obtained or renewed until it can", "error", err)
	}
	return nil
}

// isWrong reports whether a URL is refused before anybody is asked.
func isWrong(url string) bool {
	over, end := context.WithCancel(context.Background())
	end()
	client, err := holdfast.Open(over, url)
	if err == nil {
		_ = client.Close(over) // nothing is expected of it
	}
	return err != nil && !errors.Is(err, context.Canceled)
}

// Validate refuses a TTL that no lock can have on this backend: the configuration would be taken, and no certificate
// ever renewed. While the backend is down nobody knows which TTLs it takes.
func (s *Storage) Validate() error {
	if s.storage.client == nil {
		return nil
	}
	over, end := context.WithCancel(context.Background())
	end() // so nothing is sent
	lease, err := s.storage.client.Mutex("any").TryLock(over)
	switch {
	case err == nil:
		return lease.Release(context.Background())
	case errors.Is(err, holdfast.ErrNotAcquired):
		return nil
	default:
		return fmt.Errorf("caddylock: ttl: %w", err)
	}
}

func (s *Storage) load(ctx caddy.Context) (certmagic.Storage, error) {
	if s.URL == "" || s.StorageRaw == nil {
		return nil, errors.New("caddylock: storage holdfast needs the url of a backend for the locks, " +
			"and the storage that has the data, such as: storage file_system /shared/caddy")
	}
	module, err := ctx.LoadModule(s, "StorageRaw")
	if err != nil {
		return nil, fmt.Errorf("caddylock: storage: %w", err)
	}
	return module.(caddy.StorageConverter).CertMagicStorage()
}

func (s *Storage) options() []holdfast.Option {
	if s.TTL == 0 {
		return nil
	}
	return []holdfast.Option{holdfast.WithTTL(time.Duration(s.TTL))}
}

// CertMagicStorage implements [caddy.StorageConverter].
func (s *Storage) CertMagicStorage() (certmagic.Storage, error) { return s.storage, nil }

// closeTime bounds how long the end of a configuration waits for locks to be given back.
const closeTime = 5 * time.Second

// Cleanup releases all locks, and disconnects.
func (s *Storage) Cleanup() error {
	if s.storage == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.storage.close(ctx)
}

// UnmarshalCaddyfile reads the options url, ttl and storage.
func (s *Storage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		if err := s.option(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Storage) option(d *caddyfile.Dispenser) error {
	switch name := d.Val(); name {
	case "url":
		if !d.AllArgs(&s.URL) {
			return d.ArgErr()
		}
	case "ttl":
		var text string
		if !d.AllArgs(&text) {
			return d.ArgErr()
		}
		ttl, err := caddy.ParseDuration(text)
		if err != nil {
			return d.Errf("ttl: %v", err)
		}
		s.TTL = caddy.Duration(ttl)
	case "storage":
		return s.inner(d)
	default:
		return d.Errf("unknown option %q; there are url, ttl and storage", name)
	}
	return nil
}

// inner reads the storage that has the data.
func (s *Storage) inner(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	name := d.Val()
	module, err := caddyfile.UnmarshalModule(d, "caddy.storage."+name)
	if err != nil {
		return err
	}
	if _, ok := module.(caddy.StorageConverter); !ok {
		return d.Errf("%s is no storage", name)
	}
	s.StorageRaw = caddyconfig.JSONModuleObject(module, "module", name, nil)
	return nil
}

var _ interface {
	caddy.Provisioner
	caddy.Validator
	caddy.CleanerUpper
	caddy.StorageConverter
	caddyfile.Unmarshaler
} = (*Storage)(nil)
