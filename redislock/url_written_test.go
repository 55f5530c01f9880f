package redislock

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes what was read of a URL as another URL, which names everything. That must open the same store in the
// same way.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"redis://h", "redis://u:p%40@h:1/3?prefix=a:", "redis:///?socket=/run/redis.sock", "rediss://[::1]/0?keep=2m",
		"redis://:p@h/07", "redis://h/+1", "redis://h/1/", "redis://h?prefix=", "redis://h?layout=redsync",
		"redis+unix://u:p@/run/a%20b.sock?db=3", "redis+unix:////run//redis.sock", "redis+unix:///r?db=-1",
		"redis-sentinel://h1,h2:1/my%20master?sentineluser=a&sentinelpassword=b%2Bc&db=2", "redis-sentinel://h/a%2Fb",
		"redis-cluster://u:p@h1,[fe80::1%25eth0]:7000/?tls=true&replicas=1&replicaswithin=20ms&connecttimeout=1s",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, opts, ok := readURL(raw)
		if !ok {
			return
		}
		written := at.written(opts)
		again, optsAgain, ok := readURL(written)
		if !ok || !reflect.DeepEqual(at, again) || !reflect.DeepEqual(opts, optsAgain) {
			t.Errorf("%q is %+v %+v; written as %q it is %+v %+v", raw, at, opts, written, again, optsAgain)
		}
	})
}

// readURL returns what a URL of ours says, unless it names files, which there are none of.
func readURL(raw string) (at target, opts Options, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || !strings.HasPrefix(u.Scheme, "redis") || u.Query().Has("ca") || u.Query().Has("cert") {
		return at, opts, false
	}
	at, opts, err = parseURL(u)
	at.flows = nil
	return at, opts, err == nil
}

// written is a URL that says all that a target and options can say.
func (t target) written(o Options) string {
	q := url.Values{
		"layout": {string(o.Layout)}, "prefix": {o.Prefix},
		"replicas": {strconv.Itoa(o.Replicas)}, "replicaswithin": {o.ReplicasWithin.String()},
		"connecttimeout": {t.connectTimeout.String()},
	}
	if o.Keep > 0 {
		q.Set("keep", o.Keep.String())
	}
	u := url.URL{Scheme: t.scheme, Host: strings.Join(t.hosts, ","), Path: "/" + strconv.Itoa(t.db)}
	if t.user != "" || t.password != "" {
		u.User = url.UserPassword(t.user, t.password)
	}
	if t.tls != nil {
		q.Set("servername", t.tls.ServerName)
		if t.scheme != "rediss" {
			q.Set("tls", "true")
		}
	}
	switch t.scheme {
	case "redis+unix":
		u.Host, u.Path = "", t.socket
		q.Set("db", strconv.Itoa(t.db))
	case "redis-sentinel":
		u.Path = "/" + t.master
		q.Set("db", strconv.Itoa(t.db))
		q.Set("sentineluser", t.sentinelUser)
		q.Set("sentinelpassword", t.sentinelPassword)
	case "redis-cluster":
		u.Path = ""
	default:
		if t.socket != "" {
			u.Host = ""
			q.Set("socket", t.socket)
		}
	}
	u.RawPath = strings.NewReplacer(",", "%2C", "@", "%40").Replace(u.EscapedPath())
	u.RawQuery = q.Encode()
	return u.String()
}
