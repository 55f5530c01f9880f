package etcdlock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// fails renews a claim alone, and with others, until both say why that fails.
func fails(t *testing.T, d claimed.Driver, c driver.Claim, why string) {
	t.Helper()
	within := func(renew func(context.Context) error) func() bool {
		return func() bool {
			ctx, cancel := context.WithTimeout(limit(t), time.Second)
			defer cancel()
			err := renew(ctx)
			return err != nil && strings.Contains(err.Error(), why)
		}
	}
	until(t, "a request says "+why, within(func(ctx context.Context) error {
		_, err := d.Request(ctx, c)
		return err
	}))
	until(t, "a renewal says "+why, within(func(ctx context.Context) error {
		results, err := d.Renew(ctx, []driver.Claim{c})
		if err == nil {
			err = results[0].Err
		}
		return err
	}))
}

// A renewal that fails says why, in the words of whoever knows.
func TestRenewalsSayWhyTheyFail(t *testing.T) {
	t.Parallel()
	t.Run("busy", func(t *testing.T) {
		t.Parallel()
		f, d := behindFront(t)
		held := acquire(t, d, claim("busy", long))
		f.refuse(false, rpctypes.ErrGRPCRequestTooManyRequests, "KV/Txn")
		fails(t, d, held, "too many requests")
	})
	t.Run("no leader", func(t *testing.T) {
		t.Parallel()
		f, d := behindFront(t)
		held := acquire(t, d, claim("leaderless", long))
		f.refuse(false, rpctypes.ErrGRPCNoLeader, "KV/Txn")
		fails(t, d, held, "no leader")
	})
	t.Run("away", func(t *testing.T) {
		t.Parallel()
		s := servers.Etcd(t)
		d := mustOpen(t, "etcd://"+s.Addr)
		held := acquire(t, d, claim("away", long))
		s.Kill(t)
		fails(t, d, held, "connection refused")
	})
	t.Run("certificate", func(t *testing.T) {
		t.Parallel()
		authority := servers.NewAuthority(t)
		p := proxy.New(t, speakTLS(t, authority, server(t).Addr))
		own := certify(t, authority)
		d := mustOpen(t, secureURL(p.Addr, authority, own))
		held := acquire(t, d, claim("certificate", long))
		replace(t, own, authority.Certify(t, servers.Identity{Name: "a test", Until: time.Now().Add(-time.Second)}))
		p.Reset()
		fails(t, d, held, own.Cert+" is valid")
	})
	t.Run("password", func(t *testing.T) {
		t.Parallel()
		one := []*servers.Server{servers.Etcd(t, "--auth-token-ttl", fmt.Sprint(int(tokensLast.Seconds())))}
		withPasswords(t, one, "")
		d := mustOpen(t, login+one[0].Addr)
		held := acquire(t, d, claim("password", long))
		asRoot := []string{"--user", "root:s3cret-root", "user"}
		etcdctl(t, one, append(asRoot, "delete", "app")...)
		etcdctl(t, one, append(asRoot, "add", "app", "--new-user-password", "s3cret-new")...)
		etcdctl(t, one, append(asRoot, "grant-role", "app", "locks")...)
		fails(t, d, held, "check the user and the password")
	})
}
