package zklock

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes what was read of a URL as another URL, which names everything. That must open the same store in the
// same way.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"zk://h", "zk://h1:1,[fe80::1%25eth0]/a/b/", "zk://u:p%40%2F@h/a%2Cb?servername=x&sasl=true", "zk://h/",
		"zk://h?layout=curator", "zk://h/team?layout=kazoo&prefix=/a/", "zk://:p@h", "zk://u@h?acl=creator",
		"zk://u:p@h?acl=open&sessionbytes=100000", "zk://h?prefix=/a//b", "zk://h?prefix=/", "zk://h?tls=true",
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
	})
}

// A urlReading is what a URL says.
type urlReading struct {
	hosts          []string
	user, password string
	sasl, tls      bool
	server         string // whose certificate it must be
	acl            []zk.ACL
	keys           keyspace
	bytes          int
}

// readURL returns what a URL of ours says, unless it names files, which there are none of.
func readURL(raw string) (at urlReading, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Scheme != "zk" || u.Query().Has("ca") || u.Query().Has("cert") {
		return at, false
	}
	opts, err := settings(u)
	if err != nil {
		return at, false
	}
	at = urlReading{
		hosts: driver.Hosts(u, portOf(opts)), user: opts.User, password: opts.Password, sasl: opts.SASL,
		tls: opts.TLS != nil, acl: opts.ACL, bytes: opts.SessionBytes,
	}
	if at.tls {
		at.server = opts.TLS.ServerName
	}
	if at.keys, err = opts.keys(); err != nil {
		return at, false
	}
	return at, len(at.hosts) > 0
}

func (r urlReading) written() string {
	q := url.Values{
		"prefix": {"/" + strings.TrimPrefix(r.keys.root, r.keys.chroot)}, "layout": {string(r.keys.layout)},
		"tls": {strconv.FormatBool(r.tls)}, "servername": {r.server}, "sasl": {strconv.FormatBool(r.sasl)},
		"sessionbytes": {strconv.Itoa(r.bytes)},
	}
	if r.acl != nil {
		q.Set("acl", "open")
	}
	u := url.URL{Scheme: "zk", Host: strings.Join(r.hosts, ","), Path: r.keys.chroot, RawQuery: q.Encode()}
	if r.user != "" {
		u.User = url.UserPassword(r.user, r.password)
	}
	u.RawPath = strings.NewReplacer(",", "%2C", "@", "%40").Replace(u.EscapedPath())
	return u.String()
}
