package etcdlock

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes what was read of a URL as another URL, which names everything. That must open the same store in the
// same way.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"etcd://h", "etcd://h1:1,[fe80::1%25eth0]/a/b/", "etcd://u:p%40%2F@h/a%2Cb?sync=1m&servername=x", "etcd://h/",
		"etcd://h?layout=concurrency", "etcd://h?layout=concurrency&prefix=/team/", "etcd://h/team?layout=concurrency",
		"etcd://h/team/?layout=concurrency", "etcd://:p@h", "etcd://u@h", "etcd://h?prefix=/a//b", "etcd://h?prefix=/",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, ok := readURL(t, raw)
		if !ok {
			return
		}
		written := at.written()
		again, ok := readURL(t, written)
		if !ok || !reflect.DeepEqual(at, again) {
			t.Errorf("%q is %+v; written as %q it is %+v", raw, at, written, again)
		}
	})
}

// A reading is what a URL says.
type reading struct {
	endpoints      []string
	user, password string
	tls            bool
	server         string // whose certificate it must be
	keys           keyspace
	sync           string
}

// readURL returns what a URL of ours says, unless it names files, which there are none of, or a domain.
func readURL(t *testing.T, raw string) (at reading, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Scheme != "etcd" || u.Query().Has("ca") || u.Query().Has("cert") || u.Query().Has("srv") {
		return at, false
	}
	config, opts, secure, err := settings(t.Context(), u)
	if err != nil {
		return at, false
	}
	at = readingOf(config)
	at.server = secure.Server
	if at.keys, err = opts.keys(); err != nil {
		return at, false
	}
	return at, true
}

func readingOf(c clientv3.Config) reading {
	return reading{
		endpoints: c.Endpoints, user: c.Username, password: c.Password,
		tls: c.TLS != nil, sync: c.AutoSyncInterval.String(),
	}
}

func (r reading) written() string {
	prefix := r.keys.root
	if prefix == "" && r.keys.layout == Native {
		prefix = "/"
	}
	u := url.URL{Scheme: "etcd", Host: strings.Join(r.endpoints, ","), RawQuery: url.Values{
		"prefix": {prefix}, "layout": {string(r.keys.layout)}, "tls": {strconv.FormatBool(r.tls)},
		"servername": {r.server}, "sync": {r.sync},
	}.Encode()}
	if r.user != "" {
		u.User = url.UserPassword(r.user, r.password)
	}
	return u.String()
}
