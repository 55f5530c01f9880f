package redislock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/redis/rueidis"
)

// connect connects to the servers, while ctx allows.
func (t target) connect(ctx context.Context) (Conn, error) {
	switch t.scheme {
	case "redis-sentinel":
		return t.connectSentinel(ctx)
	case "redis-cluster":
		return t.connectCluster(ctx)
	}
	client, err := dial(ctx, t.single(t.hosts[0]))
	if err != nil {
		return nil, err
	}
	return rueidisConn{client: client, flows: t.flows, owned: true}, nil
}

func (t target) connectSentinel(ctx context.Context) (Conn, error) {
	return t.connectThrough(ctx, t.sentinels())
}

func (t target) connectThrough(ctx context.Context, s *sentinels) (*sentinelConn, error) {
	return openSentinel(ctx, s, t, func(ctx context.Context, addr string) (rueidis.Client, error) {
		return dial(ctx, t.single(addr))
	})
}

func (t target) sentinels() *sentinels {
	return &sentinels{
		master: t.master, hosts: t.hosts, patience: sentinelPatience, calm: calm,
		members: make(map[string]string), links: make(map[string]*sentinel),
		dial: func(ctx context.Context, addr string) (rueidis.Client, error) {
			opt := t.single(addr)
			opt.Username, opt.Password, opt.SelectDB = t.sentinelUser, t.sentinelPassword, 0
			opt.AuthCredentialsFn = nil
			return dial(ctx, opt)
		},
	}
}

func (t target) connectCluster(ctx context.Context) (Conn, error) {
	opt := t.common()
	opt.InitAddress, opt.ShuffleInit = t.hosts, true
	client, err := dial(ctx, opt)
	if err != nil {
		return nil, err
	}
	if client.Mode() != rueidis.ClientModeCluster { // of a single server rueidis makes the best
		client.Close()
		return nil, errNoCluster
	}
	return newClusterConn(rueidisConn{client: client, flows: t.flows, owned: true}), nil
}

// dial connects with these options while ctx allows. Until it returns, the end of ctx closes the connections, because
// rueidis greets a server without a context. The client goes on with connections of its own later. Several callers may
// wait for one, so that it does not end with the context of whoever was first.
func dial(ctx context.Context, opt rueidis.ClientOption) (rueidis.Client, error) {
	var opened atomic.Bool
	dialing, end := context.WithCancel(ctx)
	defer end()
	defer opened.Store(true)
	connect := opt.DialCtxFn
	opt.DialCtxFn = func(own context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
		if opened.Load() {
			return connect(context.WithoutCancel(own), addr, d, t)
		}
		conn, err := connect(ctx, addr, d, t)
		if err == nil {
			context.AfterFunc(dialing, func() {
				if !opened.Load() {
					conn.Close()
				}
			})
		}
		return conn, err
	}
	client, err := rueidis.NewClient(opt)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return client, whyNoConnection(explain(rueidisError(err)), opt)
}

// whyNoConnection adds what is likely to an error that says little: most often one side speaks TLS, and the other does
// not.
func whyNoConnection(err error, opt rueidis.ClientOption) error {
	encrypted := opt.TLSConfig != nil
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		err = errNotConnected(opt.Dialer.Timeout)
		if encrypted {
			return fmt.Errorf("%w; a server without TLS is silent, too: for that use redis://, without tls=true", err)
		}
	case encrypted && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
		return fmt.Errorf("the server closed the connection during the handshake: it has too many clients, "+
			"or does not speak TLS there: %w", err)
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("the server closed the connection without an answer: "+
			"if it expects TLS, use rediss://, or tls=true: %w", err)
	}
	return err
}

// oneConnection has rueidis send all requests over one connection. There they arrive in the order in which they were
// sent, and requests of many goroutines share a system call. By default rueidis opens up to four.
const oneConnection = -1

// bufferSize is how many bytes of requests, and of answers, each connection has room for.
const bufferSize = 64 << 10

// single is how to connect to one server.
func (t target) single(addr string) rueidis.ClientOption {
	opt := t.common()
	opt.InitAddress, opt.ForceSingleClient = []string{addr}, true
	return opt
}

// common is how to connect to any server. The client never repeats a command by itself, because a repeated script
// would look like the request of another client.
func (t target) common() rueidis.ClientOption {
	return rueidis.ClientOption{
		AuthCredentialsFn:   t.credentials(),
		Username:            t.user,
		Password:            t.password,
		SelectDB:            t.db,
		TLSConfig:           t.tls,
		DisableRetry:        true,
		DisableCache:        true,
		PipelineMultiplex:   oneConnection,
		DialCtxFn:           t.dialer(),
		Dialer:              net.Dialer{Timeout: t.connectTimeout},
		BlockingPoolSize:    poolSize,
		ReadBufferEachConn:  bufferSize,
		WriteBufferEachConn: bufferSize,
	}
}

// dialer connects to the address it is given, or always to the socket.
func (t target) dialer() func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, addr string, d *net.Dialer, encrypt *tls.Config) (net.Conn, error) {
		network := "tcp"
		if t.socket != "" {
			network, addr = "unix", t.socket
		}
		return t.flows.dial(ctx, func(ctx context.Context) (net.Conn, error) {
			if encrypt == nil {
				return d.DialContext(ctx, network, addr)
			}
			return (&tls.Dialer{NetDialer: d, Config: encrypt}).DialContext(ctx, network, addr)
		})
	}
}
