package etcdlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

var pool = leasedtest.Pool{
	Start: func(t testing.TB) *servers.Server { return servers.Etcd(t) },
	Empty: func(s *servers.Server) error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Addr}, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		defer client.Close()
		return empty(ctx, client)
	},
}

// server returns a server that has no keys and no leases, and that the test must leave running.
func server(t testing.TB) *servers.Server { return pool.Lend(t) }

// empty deletes all keys, and ends all leases.
func empty(ctx context.Context, client *clientv3.Client) error {
	if _, err := client.Delete(ctx, "", clientv3.WithPrefix()); err != nil {
		return err
	}
	all, err := client.Leases(ctx)
	if err != nil {
		return err
	}
	for _, l := range all.Leases {
		if _, err := client.Revoke(ctx, l.ID); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return err
		}
	}
	return nil
}
