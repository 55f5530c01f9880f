package etcdlock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/driver"
)

func init() {
	driver.Register("etcd", func(ctx context.Context, u *url.URL) (driver.Driver, error) { return Open(ctx, u) })
}

// How soon a server that does not answer any more is taken for dead, and the next one tried.
const (
	dialTimeout  = 5 * time.Second
	probeAfter   = 5 * time.Second // of silence; servers refuse clients that probe more often
	probeTimeout = 3 * time.Second
)

// Open connects to the servers of an URL like etcd://user:password@host1:2379,host2:2379/prefix?tls=true. Parameters:
//
//	prefix     what all keys begin with; the same as the path
//	layout     "holdfast", the default, or "concurrency" to lock together with concurrency.Mutex and etcdctl lock
//	tls        true for TLS, which the three below imply
//	ca         file with the certificates of authorities to trust instead of the system's
//	cert, key  files with the certificate and the key of the client
func Open(ctx context.Context, u *url.URL) (*Driver, error) {
	config, opts, err := settings(u)
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", explain(err))
	}
	d, err := New(client, opts)
	if err != nil {
		client.Close()
		return nil, err
	}
	d.owned = true
	if err := d.greet(ctx); err != nil {
		d.Close()
		return nil, fmt.Errorf("etcd does not answer: %w; is it running and reachable?", err)
	}
	return d, nil
}

// greet asks the server what it must be asked anyway.
func (d *Driver) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	minTTL, err := d.shortestLease(ctx)
	if err == nil {
		d.traits = func() driver.Traits { return traits(minTTL) }
	}
	return err
}

// settings reads the URL.
func settings(u *url.URL) (config clientv3.Config, opts *Options, err error) {
	p := driver.NewParams(u)
	opts = &Options{Prefix: p.String("prefix", ""), Layout: Layout(p.String("layout", string(Native)))}
	secure := tlsFiles{on: p.Bool("tls", false), ca: p.String("ca", ""), cert: p.String("cert", ""), key: p.String("key", "")}
	if err := p.Err(); err != nil {
		return config, nil, err
	}
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		if opts.Prefix != "" {
			return config, nil, errors.New("the URL has a path and the parameter prefix, which mean the same; give one")
		}
		opts.Prefix = path
	}
	config, err = connection(u, secure)
	return config, opts, err
}

// connection is how to reach the servers.
func connection(u *url.URL, secure tlsFiles) (config clientv3.Config, err error) {
	config = clientv3.Config{
		Endpoints:            driver.Hosts(u, "2379"),
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    probeAfter,
		DialKeepAliveTimeout: probeTimeout,
		Logger:               zap.NewNop(), // what matters comes as errors
	}
	if len(config.Endpoints) == 0 {
		return config, errors.New("the URL names no server; it should be one like etcd://host1:2379,host2:2379")
	}
	if u.User != nil {
		config.Username = u.User.Username()
		config.Password, _ = u.User.Password()
	}
	config.TLS, err = secure.config()
	return config, err
}

// tlsFiles say how to speak TLS.
type tlsFiles struct {
	on            bool
	ca, cert, key string
}

// config is nil when TLS is not wanted.
func (f tlsFiles) config() (*tls.Config, error) {
	if !f.on && f.ca == "" && f.cert == "" && f.key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := f.trust(config); err != nil {
		return nil, err
	}
	return config, f.identify(config)
}

func (f tlsFiles) trust(config *tls.Config) error {
	if f.ca == "" {
		return nil
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return fmt.Errorf("parameter ca: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("parameter ca: %s holds no certificate in PEM", f.ca)
	}
	return nil
}

func (f tlsFiles) identify(config *tls.Config) error {
	if f.cert == "" && f.key == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("parameters cert and key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return nil
}
