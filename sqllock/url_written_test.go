package sqllock

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes what was read of a URL of a database as another URL, which names everything. That must lead the SQL
// driver to the same store in the same way. What the SQL driver for MySQL reads of its source is what the URL says.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"mysql://u:p%40%2F@h/app", "mysql://u@h:1/a%2Fb", "mysql://h/app/x", "mysql://u:p@/app?socket=/run/my.sock",
		"mysql://h/app?socket=/run/my.sock", "mysql://u@h/app?mode=session&layout=raw&tls=true&waits=3",
		"mysql://u@h/app?layout=shedlock&table=t&connecttimeout=3s&connectionAttributes=a:b,c:d",
		"postgres://u:p%40%2F@h1,h2:1/a%2Cb?target_session_attrs=read-write", "postgres://h/app/", "postgres:///app",
		"postgres://u@/app?host=/run/postgresql", "postgres://localhost/app?host=/run", "postgres://h/app?host=other",
		"postgres:///app?service=s&pooler=session", "postgres://[fe80::1%25eth0]/app?options=-c%20a%3Db&connections=2",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, ok := readURL(raw)
		if !ok {
			return
		}
		written := at.written()
		again, ok := readURL(written)
		if !ok || !reflect.DeepEqual(at, again) {
			t.Errorf("%q is %+v; written as %q it is %+v", raw, at, written, again)
		}
		if at.scheme == "mysql" {
			at.compareMySQL(t)
		}
	})
}

// A place is what a URL says.
type place struct {
	scheme string
	user   *url.Userinfo
	hosts  []string

	database, source string
	connect          time.Duration

	opts   Options
	passed url.Values // parameters for the SQL driver
}

// readURL returns what a URL of ours says, unless it names files, which there are none of.
func readURL(raw string) (p place, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Query().Has("ca") || u.Query().Has("cert") || u.Query().Has("servername") {
		return p, false
	}
	s, ok := schemes[u.Scheme]
	if !ok {
		return p, false
	}
	at, err := s.read(u)
	p = place{
		scheme: u.Scheme, user: u.User, hosts: driver.Hosts(u, s.port),
		source: at.source, database: databaseOf(u), connect: at.connect, opts: at.opts,
	}
	p.passed = passOn(driver.NewParams(u), append(postgresParameters, append(mysqlParameters, "socket", "tls")...))
	return p, err == nil
}

func (p place) written() string {
	q := maps.Clone(p.passed)
	for name, value := range map[string]string{
		"mode": string(p.opts.Mode), "layout": string(p.opts.Layout), "table": p.opts.Table,
		"pooler": string(p.opts.Pooler), "connections": strconv.Itoa(p.opts.Connections),
		"waits": strconv.Itoa(p.opts.Waits), "connecttimeout": p.connect.String(),
	} {
		q.Set(name, value)
	}
	u := url.URL{
		Scheme: p.scheme, User: p.user, Host: strings.Join(p.hosts, ","), Path: "/" + p.database,
		RawQuery: q.Encode(),
	}
	u.RawPath = strings.NewReplacer(",", "%2C", "@", "%40").Replace(u.EscapedPath())
	return u.String()
}

// compareMySQL takes a source apart as the SQL driver does: from the last slash and the last @ before it on.
func (p place) compareMySQL(t *testing.T) {
	slash := strings.LastIndex(p.source, "/")
	server := p.source[:slash]
	at := strings.LastIndex(server, "@")
	user, password, _ := strings.Cut(server[:at], ":")
	named, params, _ := strings.Cut(p.source[slash+1:], "?")
	database, err := url.PathUnescape(named)
	want := "tcp(" + cmp.Or(strings.Join(p.hosts, ","), "localhost:3306") + ")"
	if socket := p.passed.Get("socket"); socket != "" {
		want = "unix(" + socket + ")"
	}
	wantPassword, _ := p.user.Password()
	if err != nil || user != p.user.Username() || password != wantPassword || database != p.database ||
		server[at+1:] != want || strings.Contains(params, "/") {
		t.Errorf("%s is read as user %q, password %q, server %q, database %q", p.source, user, password, server[at+1:],
			database)
	}
}
