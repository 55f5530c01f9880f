package memlock

import (
	"context"
	"errors"
	"net/url"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// named are the stores that were opened by a URL. They stay, because claims outlive the client that made them.
var named struct {
	sync.Mutex
	stores map[string]*store
}

func init() {
	driver.Register("mem", open)
}

func open(_ context.Context, u *url.URL) (driver.Driver, error) {
	name, err := nameOf(u)
	if err != nil {
		return nil, err
	}
	return &Driver{store: storeNamed(name)}, nil
}

func nameOf(u *url.URL) (string, error) {
	if err := driver.NewParams(u).Err(); err != nil {
		return "", err
	}
	if u.Opaque == "" || u.Fragment != "" {
		return "", errors.New("give the store a name, as in mem:orders")
	}
	return u.Opaque, nil
}

func storeNamed(name string) *store {
	named.Lock()
	defer named.Unlock()
	if named.stores == nil {
		named.stores = make(map[string]*store)
	}
	if named.stores[name] == nil {
		named.stores[name] = newStore()
	}
	return named.stores[name]
}
