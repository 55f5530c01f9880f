package etcdlock_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// as reports whether an error has a cause of this type.
func as[T error](err error) bool {
	var cause T
	return errors.As(err, &cause)
}

// Open says why it found no connection, with a password as without one, and programs find the cause by its type.
func TestOpenSaysWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	authority := servers.NewAuthority(t)
	secure, plain := speakTLS(t, authority, server(t).Addr), server(t).Addr
	own := certify(t, authority)
	for name, c := range map[string]struct {
		rest, says string
		is         func(error) bool
	}{
		"unknown authority": {secure + "?tls=true", "certificate signed by unknown authority",
			as[x509.UnknownAuthorityError]},
		"other name": {strings.TrimPrefix(secureURL(secure, authority, own)+"&servername=other.example", "etcd://"),
			"not other.example", as[x509.HostnameError]},
		"server without TLS": {plain + "?tls=true", "it may not speak TLS", nil},
		"server with TLS":    {secure, "set tls=true in the URL", nil},
		"nobody listens":     {servers.FreeAddr(t), "connection refused", nil},
		"no such host":       {"etcd.invalid:2379", "lookup etcd.invalid", nil},
		"no certificate":     {secure + "?ca=" + authority.File, "set cert= and key= in the URL", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			for _, user := range []string{"", "app:s3cret-app@"} {
				_, err := openSoon(t, "etcd://"+user+c.rest)
				if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !c.is(err) {
					t.Errorf("%q: got %v, want %q and its cause", user, err, c.says)
					continue
				}
				said = append(said, strings.Replace(err.Error(), "etcd://app@", "etcd://", 1))
			}
			if c.is != nil && len(said) == 2 && said[0] != said[1] { // the others depend on what was sent by then
				t.Errorf("without a password: %s\nwith one: %s", said[0], said[1])
			}
		})
	}
}

// Of several members that cannot be reached, the error names one, once.
func TestOpenNamesOneReason(t *testing.T) {
	t.Parallel()
	nobody := servers.FreeAddr(t) + "," + servers.FreeAddr(t) + "," + servers.FreeAddr(t)
	for _, user := range []string{"", "app:s3cret-app@"} {
		_, err := openSoon(t, "etcd://"+user+nobody)
		if err == nil || strings.Count(err.Error(), "refused") != 1 || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "etcd does not answer: no connection: ") {
			t.Errorf("got %v, want one reason", err)
		}
	}
}

// Open gives up with its context, begins nothing afterwards, and leaves nobody at work. The test is not parallel,
// because it looks at all goroutines.
func TestOpenLeavesNothing(t *testing.T) {
	for _, user := range []string{"", "app:s3cret-app@"} {
		addr, accepted := silent(t)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := drivertest.Open(ctx, "etcd://"+user+addr)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q: got %v, want that the time was up", user, err)
		}
		for _, g := range goroutines() {
			isTest := strings.Contains(g, "testing.(*T).Parallel(") // which waits for its turn
			if !isTest && (strings.Contains(g, "clientv3.New(") || strings.Contains(g, "holdfast/etcdlock.")) {
				t.Errorf("%q: after Open, there is still\n%s", user, g)
			}
		}
		if n := accepted.Load(); n != 1 {
			t.Errorf("%q: Open made %d connections, want 1", user, n)
		}
	}
	until(t, "all connections are closed", func() bool {
		return !strings.Contains(strings.Join(goroutines(), ""), "grpc/internal/transport.newHTTP2Client")
	})
}

// silent accepts connections, counts them, and says nothing.
func silent(t *testing.T) (addr string, accepted *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted = new(atomic.Int32)
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			t.Cleanup(func() { conn.Close() })
		}
	}()
	return l.Addr().String(), accepted
}

// goroutines are the stacks of all goroutines but this one.
func goroutines() []string {
	all := make([]byte, 1<<22)
	all = all[:runtime.Stack(all, true)]
	_, others, _ := strings.Cut(string(all), "\n\n")
	return strings.Split(others, "\n\n")
}

// With a password, Open asks other members when the one that it asks first hangs, or is not there.
func TestOpenWhereOneMemberCannotBeAsked(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	withPasswords(t, cluster, "")
	mustServe := func(addrs ...string) {
		pace.Run(t, "open", func(t *pace.T) { // members take long over passwords on a busy machine
			d := mustOpen(t, login+strings.Join(addrs, ","))
			release(t, d, acquire(t, d, claim("job", long)))
		})
	}
	for i := range cluster { // which one is asked first is drawn
		one := addrs(cluster)
		hanging := proxy.New(t, one[i])
		hanging.BlackHole()
		one[i] = hanging.Addr
		mustServe(one...)
		one[i] = servers.FreeAddr(t)
		mustServe(one...)
	}
}
