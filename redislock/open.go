package redislock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

func init() {
	driver.Register("redis", open)
	driver.Register("rediss", open)
}

const defaultPort = "6379"

// open opens a driver from a URL like redis://user:password@host:6379/0?prefix=holdfast:, or rediss: for TLS. The
// parameter socket names a Unix socket to use in place of host and port.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	params := driver.NewParams(u)
	prefix := params.String("prefix", DefaultPrefix)
	socket := params.String("socket", "")
	if err := params.Err(); err != nil {
		return nil, err
	}
	client, err := dial(ctx, u, socket)
	if err != nil {
		return nil, err
	}
	d, err := NewOn(rueidisConn{client: client, owned: true}, &Options{Prefix: prefix, NoPrefix: prefix == ""})
	if err != nil {
		client.Close()
		return nil, err
	}
	return d, nil
}

// dial connects to the server, while ctx allows.
func dial(ctx context.Context, u *url.URL, socket string) (rueidis.Client, error) {
	opt, err := clientOption(u, socket)
	if err != nil {
		return nil, err
	}
	var opened atomic.Bool
	defer opened.Store(true)
	connect := opt.DialCtxFn
	opt.DialCtxFn = func(own context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
		if opened.Load() {
			return connect(own, addr, d, t)
		}
		return connect(ctx, addr, d, t)
	}
	client, err := rueidis.NewClient(opt)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return client, explain(rueidisError(err))
}

// oneConnection has rueidis send all requests over one connection, where they arrive in the order in which they were
// sent, and where those of many goroutines go together. By default it opens up to four.
const oneConnection = -1

// clientOption translates a URL. The client never repeats a command by itself, and batches those of many goroutines.
func clientOption(u *url.URL, socket string) (rueidis.ClientOption, error) {
	db, err := database(u)
	if err != nil {
		return rueidis.ClientOption{}, err
	}
	addr, err := address(u, socket)
	if err != nil {
		return rueidis.ClientOption{}, err
	}
	password, _ := u.User.Password()
	opt := rueidis.ClientOption{
		InitAddress:         []string{addr},
		Username:            u.User.Username(),
		Password:            password,
		SelectDB:            db,
		ForceSingleClient:   true,
		DisableRetry:        true,
		DisableCache:        true,
		PipelineMultiplex:   oneConnection,
		DialCtxFn:           dialer("tcp", ""),
		Dialer:              net.Dialer{Timeout: dialTimeout},
		BlockingPoolSize:    poolSize,
		ReadBufferEachConn:  bufferSize,
		WriteBufferEachConn: bufferSize,
	}
	if socket != "" {
		opt.DialCtxFn = dialer("unix", socket)
	}
	if u.Scheme == "rediss" {
		opt.TLSConfig = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return opt, nil
}

const (
	dialTimeout = 5 * time.Second
	poolSize    = 16 // connections for what cannot be batched: the subscription
	bufferSize  = 64 << 10
)

func database(u *url.URL) (int, error) {
	path := strings.Trim(u.Path, "/")
	if path == "" {
		return 0, nil
	}
	db, err := strconv.Atoi(path)
	if err != nil || db < 0 {
		return 0, errors.New("after the host, the URL should have nothing or the number of a database, like redis://localhost:6379/0")
	}
	return db, nil
}

func address(u *url.URL, socket string) (string, error) {
	hosts := driver.Hosts(u, defaultPort)
	switch {
	case socket != "" && len(hosts) > 0:
		return "", errors.New("the URL should have either a host or the parameter socket")
	case socket != "":
		return socket, nil
	case len(hosts) != 1:
		return "", fmt.Errorf("the URL should have one host, like %s://localhost:6379; it has %d", u.Scheme, len(hosts))
	}
	return hosts[0], nil
}

// dialer connects to the address it is given, or always to the fixed one.
func dialer(network, fixed string) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
		if fixed != "" {
			addr = fixed
		}
		if t == nil {
			return d.DialContext(ctx, network, addr)
		}
		return (&tls.Dialer{NetDialer: d, Config: t}).DialContext(ctx, network, addr)
	}
}
