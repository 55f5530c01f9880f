package driver

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// ParseURL parses a backend URL, which may name several hosts with commas between them. Its error never repeats the
// URL, which may hold a password.
func ParseURL(rawURL string) (*url.URL, error) {
	if err := beforeParsing(rawURL); err != nil {
		return nil, inForm(err, rawURL)
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		if several, ok := parseHosts(rawURL); ok {
			u, err = several, nil
		}
	}
	switch {
	case err != nil:
		return nil, malformed(withoutURL(err))
	case hasCutPassword(u):
		return nil, malformed(errCutPassword)
	}
	if err := afterParsing(rawURL, u); err != nil {
		return nil, inForm(err, rawURL)
	}
	return u, nil
}

func malformed(err error) error {
	return fmt.Errorf("backend URL: %w; it should be one like redis://user:password@localhost:6379 "+
		"with special characters as %%XX", err)
}

var errCutPassword = errors.New("it has an @ that comes after a /, a ? or a #")

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
	var hosts []string
	for h := range strings.SplitSeq(rest[begin:end], ",") {
		one, err := url.Parse(scheme + "://" + h)
		if err != nil {
			return nil, false
		}
		hosts = append(hosts, one.Host)
	}
	u, err := url.Parse(scheme + "://" + rest[:begin] + "hosts" + rest[end:])
	if err != nil {
		return nil, false
	}
	u.Host = strings.Join(hosts, ",")
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
	case strings.Contains(err.Error(), "missing protocol scheme"), strings.Contains(err.Error(), "first path segment"):
		return errors.New("it does not begin with a scheme")
	case strings.Contains(err.Error(), "invalid port"):
		return errors.New("it has a port that is not a number, or a password with an unescaped /, ? or #")
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
