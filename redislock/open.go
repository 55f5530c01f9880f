package redislock

import (
	"context"
	"net/url"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

func init() {
	for _, scheme := range []string{"redis", "rediss", "redis+unix", "redis-sentinel", "redis-cluster"} {
		driver.Register(scheme, open)
	}
}

// open opens a driver from a URL, whose forms the package's comment shows.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	t, opts, err := parseURL(u)
	if err != nil {
		return nil, err
	}
	conn, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	d, err := NewOn(conn, &opts)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return d, nil
}

// New returns a driver on a client that the caller has opened. The caller closes the driver first, and then the client.
// The options choose the layout, as the parameters of a URL do. New sends nothing.
//
// A client that follows sentinels is refused: it trusts a replaced master until it learns of the new one. Open a
// redis-sentinel: URL instead.
func New(client rueidis.Client, opts *Options) (*Driver, error) {
	if err := checkClient(client); err != nil {
		return nil, err
	}
	conn := rueidisConn{client: client}
	if conn.Cluster() {
		return NewOn(newClusterConn(conn), opts)
	}
	return NewOn(conn, opts)
}

func checkClient(client rueidis.Client) error {
	switch {
	case client == nil:
		return errNoClient
	case client.Mode() == rueidis.ClientModeSentinel:
		return errFollows
	}
	return nil
}

// NewOn is New on any client for Redis. Close closes conn.
func NewOn(conn Conn, opts *Options) (*Driver, error) {
	given, err := opts.orDefault()
	if err != nil {
		return nil, err
	}
	if given.Layout == Native {
		n := newNative(conn, given)
		return &Driver{n}, nil
	}
	f, err := newForeign(conn, given)
	if err != nil {
		return nil, err
	}
	return &Driver{f}, nil
}
