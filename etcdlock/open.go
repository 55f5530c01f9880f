package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

func init() {
	driver.Register("etcd", open)
}

// How soon a server that does not answer any more is taken for dead, and the next one tried.
const (
	dialTimeout  = 5 * time.Second
	probeAfter   = 5 * time.Second // of silence; servers refuse clients that probe more often
	probeTimeout = 3 * time.Second
)

// open connects to the servers of a URL like etcd://user:password@host1:2379,host2:2379/prefix?tls=true.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	config, opts, files, err := settings(ctx, u)
	if err != nil {
		return nil, err
	}
	every, speaksTLS := config.AutoSyncInterval, config.TLS != nil
	config.AutoSyncInterval = 0 // the driver does it, once it asks for tokens itself
	new(dialLog).attach(&config)
	client, err := dial(ctx, config)
	if err != nil {
		return nil, notOpened(err, speaksTLS, files)
	}
	d, err := New(client, opts)
	if err != nil {
		client.Close()
		return nil, err
	}
	d.owned = true
	d.authenticate()
	if every > 0 {
		d.running.Go(func() { d.syncEvery(every) })
	}
	if err := d.askFirst(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && d.isLeaderless(ctx) {
			err = errNoLeader
		}
		d.Close()
		return nil, notOpened(err, speaksTLS, files)
	}
	return d, nil
}

// errNoLeader says why servers that are there answer no question but about themselves.
var errNoLeader = &driver.ServerError{
	Effect: driver.NotNow, Words: "it knows no leader",
	Advice: "start the other servers, or let them reach each other: a majority must be there",
}

// leaderTime is how long a server may take to say whether it knows a leader.
const leaderTime = 500 * time.Millisecond

// isLeaderless reports whether one of the servers says that it knows no leader. It asks none where ctx leaves no time
// for that.
func (d *Driver) isLeaderless(ctx context.Context) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < leaderTime || ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, leaderTime)
	defer cancel()
	for _, endpoint := range d.client.Endpoints() {
		if status, err := d.statusOf(ctx, endpoint); err == nil && status.Leader == 0 {
			return true
		}
	}
	return false
}

// askFirst asks the server what it must be asked anyway, so that Open fails where no server answers.
func (d *Driver) askFirst(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	minTTL, err := d.shortestLease(ctx)
	if err == nil {
		d.traits = func() driver.Traits { return traits(minTTL) }
		d.learnt.Store(true)
	}
	return err
}

// settings reads what the URL says.
func settings(ctx context.Context, u *url.URL) (
	config clientv3.Config, opts *Options, files pemfile.Files, err error,
) {
	p := driver.NewParams(u)
	opts = &Options{Prefix: p.String("prefix", ""), Layout: Layout(p.String("layout", string(Native)))}
	encrypted := p.Bool("tls", false)
	files = pemfile.Named(p.String)
	srv, sync := p.Bool("srv", false), p.Duration("sync", 0)
	if err := errors.Join(p.Err(), checkSync(sync)); err != nil {
		return config, nil, files, err
	}
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		if err := checkPrefix(u, opts); err != nil {
			return config, nil, files, err
		}
		opts.Prefix = path
	}
	if config, err = connection(u); err != nil {
		return config, nil, files, err
	}
	config.AutoSyncInterval = sync
	if encrypted = encrypted || files != (pemfile.Files{}); encrypted {
		err = encrypt(&config, files)
	}
	if err == nil && srv {
		config.Endpoints, err = discover(ctx, u, encrypted)
	}
	return config, opts, files, err
}

// checkPrefix refuses a path that may mean two things.
func checkPrefix(u *url.URL, opts *Options) error {
	switch {
	case opts.Prefix != "":
		return errors.New("the URL has a path and the parameter prefix; they mean the same, so give one")
	case opts.Layout == Concurrency && strings.HasSuffix(u.Path, "/"): // here it is a part of the keys, or is it?
		return errors.New("with layout=concurrency a path cannot end with a slash; use the parameter prefix, " +
			"as in etcd://host?layout=concurrency&prefix=/team/")
	}
	return nil
}

// leastSync keeps servers from being asked all the time.
const leastSync = time.Second

func checkSync(every time.Duration) error {
	if every != 0 && every < leastSync {
		return fmt.Errorf("parameter sync: it should be at least %v", leastSync)
	}
	return nil
}

// window is how many bytes a server may send before the client has taken some, on a stream and on a connection. As
// it is fixed, gRPC does not measure the connection, which takes a ping with each answer, and the server an answer
// to that.
const window = 4 << 20

// connection is how to reach the servers.
func connection(u *url.URL) (config clientv3.Config, err error) {
	config = clientv3.Config{
		Endpoints:            driver.Hosts(u, "2379"),
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    probeAfter,
		DialKeepAliveTimeout: probeTimeout,
		Logger:               zap.NewNop(), // what matters comes as errors
		DialOptions: []grpc.DialOption{
			grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		},
	}
	if len(config.Endpoints) == 0 {
		return config, errors.New("the URL names no server; it should be one like etcd://host1:2379,host2:2379")
	}
	if u.User != nil {
		config.Username = u.User.Username()
		config.Password, _ = u.User.Password()
		if config.Username == "" || config.Password == "" { // the client would send neither, and not say so
			return config, errors.New("give both a user and a password, as in etcd://user:password@host")
		}
	}
	return config, nil
}
