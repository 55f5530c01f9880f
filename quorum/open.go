package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/causes"
)

func init() {
	driver.Register("redlock", open)
}

// Parameters of the URL that are the quorum's. All others go to each node.
const (
	maxTTLParam  = "maxttl"
	timeoutParam = "timeout"
	freshParam   = "unsafefresh"
	tlsParam     = "tls"
)

const defaultPort = "6379"

// open opens a quorum from a URL like redlock://user:password@h1,h2,h3/0?maxttl=1m&timeout=500ms. Each host is opened
// as redis://, or as rediss:// with tls=true, with the same user, password, database and other parameters. It works
// as soon as a majority can be reached.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	opts, nodeURLs, err := parse(u)
	if err == nil {
		err = refuseAlways(ctx, nodeURLs[0])
	}
	if err != nil {
		return nil, err
	}
	nodes := make([]*node, len(nodeURLs))
	for i, nu := range nodeURLs {
		nodes[i] = newNode(i, driver.Redact(nu))
		nodes[i].open = func(ctx context.Context) (driver.Driver, error) { return driver.Open(ctx, nu.String()) }
	}
	err = cmp.Or(reachMajority(ctx, nodes), refuseTwins(nodes))
	var d *Driver
	if err == nil {
		d, err = build(nodes, "redlock", opts)
	}
	if err != nil {
		for _, n := range nodes {
			err = errors.Join(err, n.close())
		}
		return nil, err
	}
	d.owned = true
	return d, nil
}

// refuseAlways returns what is wrong with the URL of a node, as far as that is seen before the node is asked. It is the
// same for all nodes, and it is not that they cannot be reached.
func refuseAlways(ctx context.Context, u *url.URL) error {
	ctx, end := context.WithCancel(ctx)
	end()
	d, err := driver.Open(ctx, u.String())
	switch {
	case err == nil:
		return d.Close()
	case errors.Is(err, context.Canceled):
		return nil
	default:
		return err
	}
}

// parse splits a URL into what is the quorum's and the URLs of the nodes.
func parse(u *url.URL) (*Options, []*url.URL, error) {
	params := driver.NewParams(u)
	opts := &Options{
		MaxTTL:  params.Duration(maxTTLParam, DefaultMaxTTL),
		Timeout: params.Duration(timeoutParam, 0), UnsafeFresh: params.Bool(freshParam, false),
	}
	secure := params.Bool(tlsParam, false)
	rest := u.Query()
	for name := range rest {
		if !slices.Contains([]string{maxTTLParam, timeoutParam, freshParam, tlsParam}, name) {
			params.String(name, "") // the nodes know whether there is one
		} else {
			rest.Del(name)
		}
	}
	if err := params.Err(); err != nil {
		return nil, nil, err
	}
	hosts := driver.Hosts(u, defaultPort)
	if err := checkHosts(hosts); err != nil {
		return nil, nil, err
	}
	nodes := make([]*url.URL, len(hosts))
	for i, host := range hosts {
		nodes[i] = &url.URL{
			Scheme: "redis", User: u.User, Host: host,
			Path: u.Path, RawPath: u.RawPath, RawQuery: rest.Encode(),
		}
		if secure {
			nodes[i].Scheme = "rediss"
		}
	}
	return opts, nodes, nil
}

func checkHosts(hosts []string) error {
	if len(hosts) < fewest {
		return fmt.Errorf("the URL has %d servers; "+
			"give at least %d independent ones, as in redlock://h1,h2,h3", len(hosts), fewest)
	}
	for i, host := range hosts {
		if slices.ContainsFunc(hosts[:i], func(other string) bool { return strings.EqualFold(other, host) }) {
			return fmt.Errorf("the URL has the server %s twice; a server has one vote", host)
		}
	}
	return nil
}

// openFor is how long a majority may take to be reached, if the context does not say.
const openFor = 10 * time.Second

// reachMajority returns when a majority has been reached and the others had as long again, or when there can be none.
func reachMajority(ctx context.Context, nodes []*node) error {
	ctx, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	reached := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() {
			_, err := n.reach(ctx, 0)
			if err != nil {
				err = &causes.Error{Where: n.what, Err: err}
			}
			reached <- err
		}()
	}
	var errs []error
	var late <-chan time.Time
	began, have, enough := time.Now(), 0, majority(len(nodes))
	for range nodes {
		select {
		case err := <-reached:
			if err == nil {
				have++
			} else {
				errs = append(errs, err)
			}
		case <-late:
			return nil
		}
		switch {
		case len(errs) > len(nodes)-enough:
			return fmt.Errorf("%d of %d servers cannot be reached, which leaves no majority: %w",
				len(errs), len(nodes), causes.Of(errs...))
		case have == enough && late == nil:
			late = time.After(max(time.Since(began), leastPatience))
		}
	}
	return nil
}
