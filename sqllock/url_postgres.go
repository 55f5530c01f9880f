package sqllock

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// postgresParameters are passed on to the SQL driver as they are.
var postgresParameters = []string{
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslsni", "sslnegotiation", "channel_binding",
	"require_auth", "search_path", "target_session_attrs", "host", "passfile", "service", "servicefile",
	"application_name", "options", "krbspn", "krbsrvname",
}

// postgresSource is the URL itself, with a bound for connecting. The SQL driver prepares nothing by itself
// (default_query_exec_mode=exec), because a proxy may give the next statement to another session.
func postgresSource(a address, p *driver.Params) (string, error) {
	q := passOn(p, postgresParameters)
	err := cmp.Or(checkPostgresTLS(q), checkPostgresHost(a.url, q))
	q.Set("connect_timeout", strconv.Itoa(int((a.connect+time.Second-1)/time.Second)))
	q.Set("default_query_exec_mode", "exec")
	source := url.URL{Scheme: a.url.Scheme, User: a.url.User, Host: a.hosts, Path: "/" + databaseOf(a.url)}
	if a.url.Host == "" && q.Has("service") {
		source.Host = "" // the service says where the servers are
	}
	source.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // to PostgreSQL, + is no space
	return source.String(), err
}

// checkPostgresHost refuses two places at once, of which the SQL driver would take the second. People write localhost
// before the folder of a socket, because other programs want a host there.
func checkPostgresHost(u *url.URL, q url.Values) error {
	isSocket := strings.HasPrefix(q.Get("host"), "/") && u.Hostname() == "localhost"
	if u.Host != "" && q.Has("host") && !isSocket {
		return errors.New("the URL should have either hosts or the parameter host")
	}
	return nil
}

// sslModes are those of PostgreSQL.
var sslModes = []string{"", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// checkPostgresTLS refuses what looks safer than it is, and what the SQL driver would complain about later.
func checkPostgresTLS(q url.Values) error {
	mode, authority := cmp.Or(q.Get("sslmode"), os.Getenv("PGSSLMODE")), q.Get("sslrootcert")
	switch {
	case !slices.Contains(sslModes, mode):
		return fmt.Errorf("parameter sslmode: it should be one of %s, not %q", strings.Join(sslModes[1:], ", "), mode)
	case authority != "" && !slices.Contains([]string{"require", "verify-ca", "verify-full"}, mode):
		return errors.New("parameter sslrootcert: no certificate is verified without sslmode=verify-full, or verify-ca")
	case q.Has("sslcert") != q.Has("sslkey"):
		return errors.New("the parameters sslcert and sslkey go together: " +
			"files with the client's certificate and its key")
	}
	return nil
}
