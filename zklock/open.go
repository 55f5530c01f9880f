package zklock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

func init() {
	driver.Register("zk", func(ctx context.Context, u *url.URL) (driver.Driver, error) { return Open(ctx, u) })
}

// firstAnswerTimeout bounds how long Open waits for a server.
const firstAnswerTimeout = 5 * time.Second

// Ports that servers usually have for clients.
const (
	plainPort  = "2181"
	securePort = "2281"
)

// Open connects to the servers of a URL like zk://user:password@host1:2181,host2:2181/chroot. Parameters:
//
//	prefix  the node below the chroot under which everything is kept; default /holdfast, in other layouts the chroot
//	layout  "holdfast", the default, "curator" or "kazoo" to lock together with such clients
//	tls     true for encrypted connections, by default to port 2281. Certificates of servers are verified, by the
//	        system's authorities unless ca names others, and must be for the host in the URL
//	ca      a file with authorities, in PEM
//	cert    a file with this client's certificate, in PEM; with key, a file with its key
//	servername  what certificates of servers must be for, instead of the host in the URL
//	sessionbytes  how many bytes the names of all nodes of one session may have; see [Options]; default 524288
//	sasl    true to identify the user by SASL with DIGEST-MD5, instead of ZooKeeper's digest scheme
//	acl     "creator", the default where a user is given: nodes are for this user alone; or "open": for everybody
func Open(ctx context.Context, u *url.URL) (*Driver, error) {
	opts, err := settings(u)
	if err != nil {
		return nil, err
	}
	hosts := driver.Hosts(u, portOf(opts))
	if len(hosts) == 0 {
		return nil, errors.New("the URL names no server; it should be one like zk://host1:2181,host2:2181")
	}
	d, err := New(hosts, opts)
	if err != nil {
		return nil, err
	}
	if err := d.askFirst(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// portOf is the port of hosts that are named without one.
func portOf(opts *Options) string {
	if opts.TLS != nil {
		return securePort
	}
	return plainPort
}

// askFirst asks the server what it must be asked anyway, so that Open fails where no server answers.
func (d *Driver) askFirst(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, firstAnswerTimeout)
	defer cancel()
	s, err := d.start(within, longestTime)
	if err != nil {
		return d.whyNot(ctx, err)
	}
	defer s.end()
	d.know(s.longestTTL())
	if err := s.checkServed(within); err != nil {
		return err
	}
	return s.checkChroot(within)
}

// checkServed reports a server that begins sessions for everybody, but serves only users that it knows.
func (s *session) checkServed(ctx context.Context) error {
	_, err := s.exists(ctx, "/")
	if errors.Is(err, zk.ErrNoAuth) { // it serves the client, which may not read this node
		return nil
	}
	return err
}

// whyNot says why no server began a session. An answer says it by itself. Servers without a leader hang up on sessions,
// but answer four-letter words.
func (d *Driver) whyNot(ctx context.Context, err error) error {
	if isRefused(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, whyNotTime)
	defer cancel()
	leaderless := make([]bool, len(d.hosts))
	forEach(len(d.hosts), func(i int) {
		says, _ := d.ask(ctx, d.hosts[i], "srvr")
		leaderless[i] = isLeaderless(says)
	})
	switch i := slices.Index(leaderless, true); {
	case i >= 0:
		return fmt.Errorf("%s has no leader: %w", d.hosts[i], &driver.ServerError{
			Effect: driver.NotNow, Words: "it is " + notServing, Advice: startMajority, Err: err,
		})
	case isAbsence(err), err == context.DeadlineExceeded, err == context.Canceled:
		return fmt.Errorf("ZooKeeper does not answer: %w; is it running and reachable?", err)
	default:
		if began, ok := errors.AsType[notBegun](err); ok && errors.Is(err, errHungUp) {
			err = began.cause // it was no silence
		}
		return fmt.Errorf("ZooKeeper does not answer: %w", err)
	}
}

// whyNotTime bounds how long servers are asked why they serve nobody.
const whyNotTime = time.Second

// settings reads what the URL says.
func settings(u *url.URL) (*Options, error) {
	p := driver.NewParams(u)
	opts := &Options{
		Chroot: strings.TrimSuffix(u.Path, "/"),
		Prefix: p.String("prefix", ""),
		Layout: Layout(p.String("layout", string(Native))),

		SessionBytes: p.Int("sessionbytes", DefaultSessionBytes),
	}
	acl := p.String("acl", "")
	opts.SASL = p.Bool("sasl", false)
	encrypt, files := p.Bool("tls", false), pemFiles{pemfile.Named(p.String)}
	if err := p.Err(); err != nil {
		return nil, err
	}
	var err error
	if opts.TLS, err = files.config(encrypt); err != nil {
		return nil, err
	}
	if u.User != nil {
		opts.User = u.User.Username()
		opts.Password, _ = u.User.Password()
	}
	switch {
	case u.User != nil && opts.User == "":
		return nil, errors.New("the URL has a password and no user; write zk://user:password@host")
	case opts.SASL && opts.User == "":
		return nil, errors.New("parameter sasl: the URL must name the user, as in zk://user:password@host")
	case acl == "":
	case acl == "open":
		opts.ACL = zk.WorldACL(zk.PermAll)
	case acl == "creator" && opts.User == "":
		return nil, errors.New("parameter acl: creator needs a user in the URL, as in zk://user:password@host")
	case acl != "creator":
		return nil, errors.New(`parameter acl: it should be "creator" or "open"`)
	}
	return opts, nil
}
