package driver

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// A URL that package url accepts may still mean something else than its author meant: of zk://h1/a,h2/a it takes one
// host and a strange path, and of etcd://h1,http://h2 a prefix. Two programs with such URLs may then lock in different
// stores and never notice. The functions below refuse these URLs, with what is wrong and how to write it. They never
// repeat a part of the URL besides its scheme, because any part may belong to a password.

// forms shows, for each scheme, what a URL looks like.
var forms = map[string]string{
	"mem":            "mem:NAME",
	"file":           "file:/PATH/locks.db",
	"mysql":          "mysql://USER:PASSWORD@HOST:3306/DATABASE",
	"postgres":       "postgres://USER:PASSWORD@HOST:5432/DATABASE",
	"redis":          "redis://USER:PASSWORD@HOST:6379/0",
	"rediss":         "rediss://USER:PASSWORD@HOST:6379/0",
	"redis+unix":     "redis+unix:///PATH/redis.sock",
	"redis-sentinel": "redis-sentinel://HOST1:26379,HOST2:26379/MASTER",
	"redis-cluster":  "redis-cluster://HOST1:6379,HOST2:6379",
	"redlock":        "redlock://HOST1:6379,HOST2:6379,HOST3:6379",
	"etcd":           "etcd://HOST1:2379,HOST2:2379/PREFIX",
	"zk":             "zk://HOST1:2181,HOST2:2181/CHROOT",
}

// otherNames are schemes that other programs use, with ours for the same engine.
var otherNames = map[string]string{
	"postgresql": "postgres", "pg": "postgres", "pgx": "postgres", "mariadb": "mysql", "zookeeper": "zk",
	"valkey": "redis", "valkeys": "rediss", "redis+sentinel": "redis-sentinel", "redis+cluster": "redis-cluster",
	"redis-socket": "redis+unix", "sqlite": "file", "sqlite3": "file", "memory": "mem",
}

// URLForm returns what URLs look like that have this scheme. For a scheme that other programs use for one of our
// engines, such as postgresql, it returns the form with our scheme, and for any other "".
func URLForm(scheme string) string { return forms[cmp.Or(otherNames[scheme], scheme)] }

// hasNoHosts tells the schemes whose URLs have a path or a name right after the colon.
func hasNoHosts(scheme string) bool { return scheme == "mem" || scheme == "file" }

// A mistake says what is wrong with a URL, and how to write it.
type mistake string

func (m mistake) Error() string { return string(m) }

const (
	quotationMarks = "\"'`“”‘’«»<>"

	inQuotes     mistake = "it begins or ends with a quotation mark or a bracket; write it without"
	hasSpace     mistake = "it has white space; write hosts with a comma alone between them, and %20 for a space"
	schemeTwice  mistake = "it has a second scheme; write one scheme, before the first host"
	noSlashes    mistake = "two slashes are missing after its scheme"
	atInLogin    mistake = "it has a second @ before its hosts; write %40 in a password, and one user for all hosts"
	noHost       mistake = "one of its hosts is empty; is a shell variable not set? Name it, if need be localhost"
	noPort       mistake = "one of its hosts has a colon and no port; is a shell variable not set?"
	badPort      mistake = "one of its ports is not a number from 1 to 65535"
	badHost      mistake = "one of its hosts has a character that no host has"
	badBrackets  mistake = "one of its hosts has brackets without an IPv6 address in them"
	bareIPv6     mistake = "one of its hosts has several colons; write an IPv6 address like [::1]:6379"
	pathPerHost  mistake = "its path has a comma; write all hosts and then one path for all, or %2C"
	doubledSlash mistake = "its path has two slashes together, or . or .. between slashes; leave them out"
	hasFragment  mistake = "it is cut off at a #; write that as %23"
	secondMark   mistake = "it has a second ?; write & between its parameters, or %3F for a question mark"
)

// beforeParsing finds the mistakes that package url would call a syntax error, or not see at all.
func beforeParsing(rawURL string) error {
	scheme, rest, _ := strings.Cut(rawURL, ":")
	authority, after := cutAuthority(rest)
	switch {
	case strings.Trim(rawURL, quotationMarks) != rawURL:
		return inQuotes
	case hasSpaceIn(rawURL, scheme):
		return hasSpace
	case isScheme(authority) && strings.HasPrefix(after, "//"), strings.Contains(cutQuery(after), "://"):
		return schemeTwice
	}
	return nil
}

// cutAuthority splits what follows the scheme into user, password and hosts, and the rest. Without two slashes there
// are no hosts.
func cutAuthority(rest string) (authority, after string) {
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", rest
	}
	end := strings.IndexAny(rest+"/", "/?#")
	return rest[:end], rest[end:]
}

func cutQuery(after string) string {
	end := strings.IndexAny(after+"?", "?#")
	return after[:end]
}

// hasSpaceIn reports white space in a URL that names hosts, and at the ends of the parts of one that does not: the path
// of a file may have spaces.
func hasSpaceIn(rawURL, scheme string) bool {
	if hasNoHosts(scheme) {
		rest := strings.TrimPrefix(rawURL[len(scheme):], ":")
		return strings.TrimSpace(rest) != rest
	}
	return strings.ContainsFunc(rawURL, unicode.IsSpace)
}

var schemeAtEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[,@])[A-Za-z][A-Za-z0-9+.-]*:$`)
})

// isScheme reports whether hosts end with a scheme and its colon.
func isScheme(authority string) bool { return schemeAtEnd().MatchString(authority) }

// afterParsing finds the mistakes in a URL that package url has taken apart.
func afterParsing(rawURL string, u *url.URL) error {
	authority, _ := cutAuthority(strings.TrimPrefix(rawURL[len(u.Scheme):], ":"))
	switch {
	case strings.Contains(rawURL, "#"):
		return hasFragment
	case strings.Contains(u.RawQuery, "?"):
		return secondMark
	case u.Opaque != "" && forms[u.Scheme] != "" && !hasNoHosts(u.Scheme):
		return noSlashes
	case strings.Count(authority, "@") > 1:
		return atInLogin
	case u.Host == "":
		return nil // each driver knows whether it needs one
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		if err := checkHost(host); err != nil {
			return err
		}
	}
	return checkPath(u.EscapedPath())
}

var hostPort = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\[.*\]|[^:]*)(:.*)?$`)
})

// isBad reports what no name of a host has.
func isBad(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("._-", r)
}

// checkHost checks a host with its port, if it has one.
func checkHost(host string) error {
	parts := hostPort().FindStringSubmatch(host)
	if parts == nil {
		return badHost
	}
	name, port := parts[1], parts[2]
	_, inBrackets := strings.CutPrefix(name, "[")
	switch {
	case strings.Contains(strings.TrimPrefix(port, ":"), ":"):
		return bareIPv6
	case name == "":
		return noHost
	case port == ":":
		return noPort
	case port != "" && !isPort(port[1:]):
		return badPort
	case inBrackets:
		return checkBrackets(name)
	case strings.ContainsFunc(name, isBad):
		return badHost
	}
	return nil
}

func checkBrackets(name string) error {
	addr, err := netip.ParseAddr(name[1 : len(name)-1])
	if err != nil || !addr.Is6() {
		return badBrackets
	}
	return nil
}

func isPort(s string) bool {
	port, err := strconv.ParseUint(s, 10, 16)
	return err == nil && port > 0
}

// checkPath checks the path after hosts, with its escapes: what is escaped was meant.
func checkPath(path string) error {
	if strings.Contains(path, ",") {
		return pathPerHost
	}
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if segment == "." || segment == ".." || segment == "" && strings.Trim(path, "/") != "" {
			return doubledSlash
		}
	}
	if len(path) > 1 && strings.HasPrefix(path, "//") || strings.HasSuffix(path, "//") {
		return doubledSlash
	}
	return nil
}

// inForm adds to a mistake the form that a URL with this scheme should have.
func inForm(err error, rawURL string) error {
	var m mistake
	if !errors.As(err, &m) {
		return malformed(err)
	}
	scheme, _, _ := strings.Cut(strings.TrimLeft(rawURL, quotationMarks+" \t\r\n"), ":")
	return fmt.Errorf("backend URL: %w; the form is %s", err,
		cmp.Or(URLForm(strings.ToLower(scheme)), forms["redis"]))
}
