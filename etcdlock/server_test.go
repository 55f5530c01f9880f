package etcdlock_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// open connects a new client to the servers, and a driver on it.
func open(t testing.TB, opts *etcdlock.Options, addrs ...string) *etcdlock.Driver {
	t.Helper()
	d, err := etcdlock.New(dial(t, addrs...), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func dial(t testing.TB, addrs ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: addrs, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func addrs(cluster []*servers.Server) (list []string) {
	for _, s := range cluster {
		list = append(list, s.Addr)
	}
	return list
}

// limit returns a context that ends long after anything should have happened.
func limit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// opener opens drivers for the suite.
func opener(opts *etcdlock.Options, addrs ...string) func(testing.TB) driver.Driver {
	return func(t testing.TB) driver.Driver { return open(t, opts, addrs...) }
}
