package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
)

// An OpenFunc opens a driver from its URL. It checks the parameters with [Params].
type OpenFunc = func(context.Context, *url.URL) (Driver, error)

var registry struct {
	sync.RWMutex
	open map[string]OpenFunc
}

// packages names what to import for a scheme, for the error when it was not imported.
var packages = map[string]string{
	"mem": "memlock", "file": "sqllock", "mysql": "sqllock", "postgres": "sqllock",
	"redis": "redislock", "rediss": "redislock", "redis+unix": "redislock",
	"redis-sentinel": "redislock", "redis-cluster": "redislock",
	"redlock": "quorum", "etcd": "etcdlock", "zk": "zklock",
}

// Register makes a driver known under a URL scheme. Drivers call it when they are imported. It panics when the scheme
// is taken.
func Register(scheme string, open func(context.Context, *url.URL) (Driver, error)) {
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.open[scheme]; taken {
		panic("driver: two drivers register the URL scheme " + scheme)
	}
	if registry.open == nil {
		registry.open = make(map[string]OpenFunc)
	}
	registry.open[scheme] = open
}

// Open opens the driver that is registered for the scheme of the URL. No error shows the URL's password.
func Open(ctx context.Context, rawURL string) (Driver, error) {
	u, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	registry.RLock()
	open, ok := registry.open[u.Scheme]
	registry.RUnlock()
	if !ok {
		return nil, unknownScheme(u.Scheme)
	}
	d, err := open(ctx, u)
	switch {
	case errors.Is(err, errCutPassword): // so the rest of the URL may be a part of it, too
		return nil, malformed(err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", strings.TrimSuffix(Redact(u), ":"), err) // redis: alone ends in one
	}
	return d, nil
}

func unknownScheme(scheme string) error {
	if pkg, known := packages[scheme]; known {
		return fmt.Errorf("backend URL: no driver for %s: is imported; import github.com/holdfast-go/holdfast/%s",
			scheme, pkg)
	}
	return fmt.Errorf("backend URL: unknown scheme %q; "+
		"it should be one like file:/path/to/locks.db or redis://localhost:6379", scheme)
}

// ParseURL parses a backend URL, which may name several hosts with commas between them. Its error never repeats the
// URL, which may hold a password.
func ParseURL(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		if several, ok := parseHosts(rawURL); ok {
			u, err = several, nil
		}
	}
	if err == nil && hasCutPassword(u) {
		err = errCutPassword
	}
	if err != nil {
		return nil, malformed(withoutURL(err))
	}
	return u, nil
}

func malformed(err error) error {
	return fmt.Errorf("backend URL: %w; it should be one like redis://user:password@localhost:6379 "+
		"with special characters as %%XX", err)
}

var errCutPassword = errors.New("an @ that comes after a /, a ? or a #")

// hasCutPassword reports whether the URL seems to have a user and a password that begins with digits and has one of
// these characters: then the user looks like a host, and the digits like its port.
func hasCutPassword(u *url.URL) bool {
	if !mayHaveUser(u) {
		return false
	}
	for name := range u.Query() {
		if strings.Contains(name, "@") {
			return true
		}
	}
	return strings.Contains(u.EscapedPath()+u.EscapedFragment(), "@")
}

// mayHaveUser reports whether the host and the port of a URL may be meant as a user and a password.
func mayHaveUser(u *url.URL) bool {
	hasPort := strings.LastIndex(u.Host, ":") > strings.LastIndex(u.Host, "]") // and not the colons of IPv6 alone
	return u.User == nil && hasPort
}

// parseHosts parses a URL with several hosts, in whose list net/url would see one host with an odd port.
func parseHosts(rawURL string) (*url.URL, bool) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, false
	}
	end := strings.IndexAny(rest+"/", "/?#")
	begin := strings.LastIndex(rest[:end], "@") + 1
	hosts := rest[begin:end]
	for h := range strings.SplitSeq(hosts, ",") {
		if _, err := url.Parse(scheme + "://" + h); err != nil {
			return nil, false
		}
	}
	u, err := url.Parse(scheme + "://" + rest[:begin] + "hosts" + rest[end:])
	if err != nil {
		return nil, false
	}
	u.Host = hosts
	return u, true
}

// withoutURL takes the URL out of an error of net/url, and any part of it that the reason repeats.
func withoutURL(err error) error {
	var badEscape url.EscapeError
	switch {
	case err == errCutPassword:
		return err
	case errors.As(err, &badEscape):
		return errors.New("an invalid %-escape")
	default:
		return errors.New("it cannot be parsed")
	}
}

// Redact returns the URL without its password and its parameters, for people to read.
func Redact(u *url.URL) string {
	shown := *u
	shown.RawQuery, shown.Fragment = "", ""
	if strings.Contains(u.Opaque, "@") { // user:password@host without the slashes
		shown.Opaque = "..."
	}
	if login, _, at := strings.Cut(u.Path, "@"); at && strings.Contains(login, ":") { // or with one or three of them
		shown.Path, shown.RawPath = "/...", ""
	}
	if u.User != nil {
		shown.User = nil
		if name := u.User.Username(); name != "" {
			shown.User = url.User(name)
		}
	}
	return shown.String()
}

// Hosts returns the servers that a URL names, host:port each; those without a port get defaultPort.
func Hosts(u *url.URL, defaultPort string) []string {
	var hosts []string
	for h := range strings.SplitSeq(u.Host, ",") {
		one := url.URL{Host: h}
		switch {
		case h == "":
		case one.Port() == "":
			hosts = append(hosts, net.JoinHostPort(one.Hostname(), defaultPort))
		default:
			hosts = append(hosts, h)
		}
	}
	return hosts
}
