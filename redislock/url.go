package redislock

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

const (
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
)

// dialTimeout is how long connecting may take unless the URL says otherwise.
const dialTimeout = 5 * time.Second

// A target is what a URL says about the servers.
type target struct {
	scheme         string
	hosts          []string // host:port each; the sentinels where there are some
	socket         string   // a Unix socket in place of them
	user, password string
	passfile       string // in place of password
	db             int
	tls            *tls.Config
	connectTimeout time.Duration
	flows          *flows // the connections, to whichever server

	master                         string // what sentinels call the group
	sentinelUser, sentinelPassword string
}

// parseURL reads a URL, with all of its parameters.
func parseURL(u *url.URL) (target, Options, error) {
	p := driver.NewParams(u)
	t := target{scheme: u.Scheme, user: u.User.Username(), flows: newFlows()}
	t.password, _ = u.User.Password()
	opts := parseOptions(p)
	t.connectTimeout = p.Duration("connecttimeout", dialTimeout)
	files := pemfile.Named(p.String)
	encrypt := u.Scheme == "rediss"
	if !encrypt && u.Scheme != "redis+unix" {
		encrypt = p.Bool("tls", false)
	}
	t.passfile = p.String("passfile", "")
	misplaced := cmp.Or(t.parsePlace(u, p), t.checkPassfile())
	if err := cmp.Or(p.Err(), misplaced, t.checkTimes(opts, u.Query().Has("keep"))); err != nil {
		return t, opts, err
	}
	t.flows.blocks, t.flows.connect = opts.blocking(), t.connectTimeout
	var err error
	t.tls, err = encryption(files, encrypt)
	return t, opts, err
}

func parseOptions(p *driver.Params) Options {
	layout, usual := Layout(p.String("layout", "")), ""
	if layout == Native {
		usual = defaultPrefix
	}
	prefix := p.String("prefix", usual)
	return Options{
		Layout:         layout,
		Prefix:         prefix,
		NoPrefix:       prefix == "",
		Keep:           p.Duration("keep", 0),
		Replicas:       p.Int("replicas", 0),
		ReplicasWithin: p.Duration("replicaswithin", defaultReplicasWithin),
	}
}

// checkTimes refuses times of zero: in a URL somebody chose them, while in [Options] they stand for the defaults.
func (t target) checkTimes(opts Options, keepGiven bool) error {
	switch {
	case opts.ReplicasWithin == 0:
		return errors.New("parameter replicaswithin: it should be 1ms or more")
	case keepGiven && opts.Keep < minKeep:
		return fmt.Errorf("parameter keep: it should be %v or more", minKeep)
	case t.connectTimeout <= 0:
		return errors.New("parameter connecttimeout: it should be 1ms or more")
	case t.db < 0:
		return errors.New("parameter db: it should be 0 or more")
	}
	return nil
}

// parsePlace reads where the servers are. Each scheme says that in its own way.
func (t *target) parsePlace(u *url.URL, p *driver.Params) error {
	switch u.Scheme {
	case "redis+unix":
		t.socket, t.db = u.Path, p.Int("db", 0)
		return t.checkSocket(u)
	case "redis-sentinel":
		t.hosts, t.master = driver.Hosts(u, defaultSentinelPort), strings.Trim(u.Path, "/")
		t.sentinelUser, t.sentinelPassword = p.String("sentineluser", ""), p.String("sentinelpassword", "")
		t.db = p.Int("db", 0)
		return t.checkSentinel()
	case "redis-cluster":
		t.hosts = driver.Hosts(u, defaultPort)
		return t.checkCluster(u)
	}
	t.hosts, t.socket = driver.Hosts(u, defaultPort), p.String("socket", "")
	return t.checkSingle(u)
}

func (t *target) checkSocket(u *url.URL) error {
	if t.socket == "" || u.Host != "" {
		return errors.New("the URL should have three slashes and the path of a socket, " +
			"like redis+unix:///run/redis/redis.sock")
	}
	t.hosts = []string{t.socket}
	return nil
}

func (t *target) checkSentinel() error {
	if len(t.hosts) == 0 || t.master == "" || strings.Contains(t.master, "/") {
		return errors.New("the URL should have the sentinels and the name of their master, like " + likeSentinel)
	}
	return nil
}

var errNoCluster = fmt.Errorf("this server is not part of a cluster; use a URL like %s: %w",
	likeServer, driver.ErrRefused)

func (t *target) checkCluster(u *url.URL) error {
	if len(t.hosts) == 0 || strings.Trim(u.Path, "/") != "" {
		return errors.New("the URL should have some hosts of the cluster and nothing after them, " +
			"like redis-cluster://host1,host2: a cluster has one database")
	}
	return nil
}

func (t *target) checkSingle(u *url.URL) (err error) {
	if t.db, err = database(u); err != nil {
		return err
	}
	switch {
	case t.socket != "" && len(t.hosts) > 0:
		return errors.New("the URL should have either a host or the parameter socket")
	case t.socket != "":
		t.hosts = []string{t.socket}
	case len(t.hosts) != 1:
		return fmt.Errorf("the URL should have one host, like %s://localhost:6379; it has %d; "+
			"for several use redis-sentinel://, redis-cluster:// or redlock:// instead", u.Scheme, len(t.hosts))
	}
	return nil
}

func database(u *url.URL) (int, error) {
	path := strings.Trim(u.Path, "/")
	if path == "" {
		return 0, nil
	}
	db, err := strconv.ParseUint(path, 10, 31)
	if err != nil {
		return 0, errors.New("after the host, the URL should have nothing or the number of a database, " +
			"like redis://localhost:6379/0")
	}
	return int(db), nil
}

// encryption returns nil for connections that are not encrypted. A certificate must have the name of the host that is
// connected to, unless the URL gives one name for all.
func encryption(f pemfile.Files, encrypt bool) (*tls.Config, error) {
	config, err := f.Config(encrypt, "use rediss: or the parameter tls=true")
	if config == nil {
		return nil, err
	}
	return config, f.Load(config)
}
