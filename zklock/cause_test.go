package zklock_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The server is gone. Errors of renewals, and of the lease that ends by it, say why there was no connection.
func TestRenewalsSayWhy(t *testing.T) {
	t.Parallel()
	server := servers.ZooKeeper(t)
	d := open(t, nil, server.Addr)
	held := mustLock(t, d, "job", 3*time.Second)
	c := acquire(t, d, claim("another", long))
	server.Kill(t)
	until(t, "a renewal says that the connection is refused", func() bool { // the first may say that it was reset
		ctx, cancel := context.WithTimeout(limit(t), time.Second)
		defer cancel()
		results, err := d.Renew(ctx, []driver.Claim{c})
		return err == nil && errors.Is(results[0].Err, syscall.ECONNREFUSED)
	})
	<-held.Done()
	if err := held.Err(); !errors.Is(err, holdfast.ErrLost) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the lease ends with %v, which does not say that the connection is refused", err)
	}
}

// An operator has ended the session, which the holder is told with its next connection.
func TestExpiredSessionSaysWhy(t *testing.T) {
	t.Parallel()
	server := servers.ZooKeeper(t)
	p := proxy.New(t, server.Addr)
	var listening tap
	held := mustLock(t, open(t, listening.options(), p.Addr), "job", longest)
	until(t, "the holder is told", func() bool {
		listening.closeSessions(t, server)
		p.Reset()
		return held.Err() != nil
	})
	if err := held.Err(); !strings.Contains(err.Error(), "the session has ended: the server has expired it") {
		t.Errorf("the lease ends with %v", err)
	}
}
