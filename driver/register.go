package driver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
)

// An OpenFunc opens a driver from its URL. It checks the parameters with [Params].
type OpenFunc = func(context.Context, *url.URL) (Driver, error)

var registry struct {
	sync.RWMutex
	open map[string]OpenFunc
}

// packages names what to import for a scheme, for the error when it was not imported.
var packages = map[string]string{
	"mem": "memlock", "file": "sqllock", "mysql": "sqllock", "postgres": "sqllock",
	"redis": "redislock", "rediss": "redislock", "redis+unix": "redislock",
	"redis-sentinel": "redislock", "redis-cluster": "redislock",
	"redlock": "quorum", "etcd": "etcdlock", "zk": "zklock",
}

// Register makes a driver known under a URL scheme. Drivers call it when they are imported. It panics when the scheme
// is taken.
func Register(scheme string, open func(context.Context, *url.URL) (Driver, error)) {
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.open[scheme]; taken {
		panic("driver: two drivers register the URL scheme " + scheme)
	}
	if registry.open == nil {
		registry.open = make(map[string]OpenFunc)
	}
	registry.open[scheme] = open
}

// Open opens the driver that is registered for the scheme of the URL. No error shows the URL's password.
func Open(ctx context.Context, rawURL string) (Driver, error) {
	u, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	registry.RLock()
	open, ok := registry.open[u.Scheme]
	registry.RUnlock()
	if !ok {
		return nil, unknownScheme(u.Scheme)
	}
	d, err := open(ctx, u)
	switch {
	case errors.Is(err, errCutPassword): // so the rest of the URL may be a part of it, too
		return nil, malformed(err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", strings.TrimSuffix(Redact(u), ":"), err) // redis: alone ends in one
	}
	return d, nil
}

func unknownScheme(scheme string) error {
	if pkg, known := packages[scheme]; known {
		return fmt.Errorf("backend URL: no driver for %s: is imported; import github.com/holdfast-go/holdfast/%s",
			scheme, pkg)
	}
	if form := URLForm(scheme); form != "" {
		return fmt.Errorf("backend URL: unknown scheme %q; the form is %s", scheme, form)
	}
	return fmt.Errorf("backend URL: unknown scheme %q; "+
		"it should be one like file:/path/to/locks.db or redis://localhost:6379", scheme)
}
