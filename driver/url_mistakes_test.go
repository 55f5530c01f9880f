package driver_test

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Mistakes that people make, with what they are told. Each URL was taken for another one than it seems, or it could
// be: by us, or by another program that reads the same URL.
var mistakes = []struct{ raw, want string }{
	{"etcd://http://h", "a second scheme"},
	{"etcd://h1,http://h2", "a second scheme"},
	{"etcd://u:s3cret@h1:1,http://h2", "a second scheme"},
	{"redis-cluster://h1:1,redis-cluster://h2:2", "a second scheme"},
	{"postgres://h1/db,postgres://h2/db", "a second scheme"},
	{"zk://h1/a,h2/a", "its path has a comma"},
	{"etcd://h1:1/a,h2", "its path has a comma"},
	{"redlock://h1/0,h2/0,h3/0", "its path has a comma"},
	{"zk://h1//a", "two slashes together"},
	{"etcd://h1/a//b", "two slashes together"},
	{"etcd://h1//", "two slashes together"},
	{"redis://h1//0", "two slashes together"},
	{"etcd://h1/a/../b", ". or .. between"},
	{"zk://h1/./b", ". or .. between"},
	{"redis:h1:6379", "two slashes are missing"},
	{"mysql:user:s3cret@h1/db", "two slashes are missing"},
	{"redis://h1:", "a colon and no port"},
	{"etcd://h1:,h2:1", "a colon and no port"},
	{"etcd://h1:1,h2:", "a colon and no port"},
	{"redis://h1:70000", "1 to 65535"},
	{"redis://h1:0", "1 to 65535"},
	{"redis://h1:port", "a port that is not a number"},
	{"etcd://h1,,h2", "hosts is empty"},
	{"etcd://h1,", "hosts is empty"},
	{"redis://:6379", "hosts is empty"},
	{"redis-cluster://h1, h2", "white space"},
	{"redis-cluster://h1 ,h2", "white space"},
	{" redis://h1", "white space"},
	{"redis://h1\n", "white space"},
	{"zk://h1/a ", "white space"},
	{"file: /path", "white space"},
	{"file:/path ", "white space"},
	{"mem:name\n", "white space"},
	{"redis://user:s3cret@more@h1", "a second @"},
	{"redis-cluster://user:s3cret@h1,user:s3cret@h2", "a second @"},
	{"redis://user:s3cret#more@h1", "unescaped /, ? or #"},
	{"redis://user:s3cret/more@h1", "unescaped /, ? or #"},
	{"redis://user:12#s3cret@h1", "an @ that comes after"},
	{"redis://h1/0#s3cret", "cut off at a #"},
	{"redis://h1?prefix=s3cret#", "cut off at a #"},
	{"file:/path/a#b", "cut off at a #"},
	{`"redis://user:s3cret@h1"`, "a quotation mark"},
	{`'redis://user:s3cret@h1'`, "a quotation mark"},
	{"“redis://user:s3cret@h1”", "a quotation mark"},
	{"<redis://user:s3cret@h1>", "a quotation mark"},
	{`redis://h1/0"`, "a quotation mark"},
	{"redis://h1?prefix=s3cret?tls=true", "a second ?"},
	{"redis://<host>:6379", "a character that no host has"},
	{"mysql://user:s3cret@tcp(h1)/db", "a character that no host has"},
	{"etcd://h1;h2", "a character that no host has"},
	{"etcd://h1;h2/a", "a character that no host has"},
	{"etcd://{h1},h2/a", "cannot be parsed"},
	{"redis://[h1]", "cannot be parsed"},
	{"redis-cluster://h1,[1.2.3.4]:1", "cannot be parsed"},
	{"etcd://::1", "several colons"},
	{"etcd://h1:1:2,h2", "several colons"},
}

func TestMistakesInURLs(t *testing.T) {
	for _, tt := range mistakes {
		u, err := driver.ParseURL(tt.raw)
		switch {
		case err == nil:
			t.Errorf("%s is taken for host %q, path %q; want an error with %q", tt.raw, u.Host, u.Path, tt.want)
		case !strings.Contains(err.Error(), tt.want), strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: %v; want an error with %q, and without the password", tt.raw, err, tt.want)
		}
	}
}

// The error shows the form that a URL of this engine has.
func TestMistakeShowsForm(t *testing.T) {
	for raw, form := range map[string]string{
		"zk://h1/a,h2/a":       "zk://HOST1:2181,HOST2:2181/CHROOT",
		`"etcd://h1"`:          "etcd://HOST1:2379,HOST2:2379/PREFIX",
		"POSTGRES://h1/a,h2/a": "postgres://USER:PASSWORD@HOST:5432/DATABASE",
	} {
		if _, err := driver.ParseURL(raw); err == nil || !strings.HasSuffix(err.Error(), "the form is "+form) {
			t.Errorf("%s: %v; want an error that shows %s", raw, err, form)
		}
	}
	_, err := driver.Open(t.Context(), "postgresql://u:s3cret@h/db")
	if err == nil || !strings.HasSuffix(err.Error(), "the form is postgres://USER:PASSWORD@HOST:5432/DATABASE") {
		t.Errorf("postgresql: %v; want an error that shows our scheme", err)
	}
}

// A URL that looks mistaken and is not is taken as it was meant.
func TestOddURLs(t *testing.T) {
	for raw, want := range map[string]url.URL{
		"etcd://h1,h2/a%2Cb":                {Scheme: "etcd", Host: "h1,h2", Path: "/a,b"},
		"etcd://h1/a/":                      {Scheme: "etcd", Host: "h1", Path: "/a/"},
		"etcd://[::1]:1,[fe80::1%25eth0]":   {Scheme: "etcd", Host: "[::1]:1,[fe80::1%eth0]"},
		"etcd://[fe80::1%25eth0]:2":         {Scheme: "etcd", Host: "[fe80::1%eth0]:2"},
		"redis://h_1.example.:6379":         {Scheme: "redis", Host: "h_1.example.:6379"},
		"redis://bücher.example":            {Scheme: "redis", Host: "bücher.example"},
		"redis+unix://u:p@/run/redis.sock":  {Scheme: "redis+unix", Path: "/run/redis.sock"},
		"redis+unix:///run//redis.sock":     {Scheme: "redis+unix", Path: "/run//redis.sock"},
		"file:/path/with a space,comma.db":  {Scheme: "file", Path: "/path/with a space,comma.db"},
		"postgres:///db":                    {Scheme: "postgres", Path: "/db"},
		"redis://u:%40%23%2F%3F@h1,h2:1/0?": {Scheme: "redis", Host: "h1,h2:1", Path: "/0"},
	} {
		u, err := driver.ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if u.Scheme != want.Scheme || u.Host != want.Host || u.Path != want.Path {
			t.Errorf("%s is taken for %q %q %q, want %q %q %q",
				raw, u.Scheme, u.Host, u.Path, want.Scheme, want.Host, want.Path)
		}
	}
}

// A parameter without a value is what a shell makes of a variable that is not set.
func TestParamsWithoutValue(t *testing.T) {
	p := driver.NewParams(&url.URL{RawQuery: "tls="})
	if on := p.Bool("tls", false); p.Err() == nil {
		t.Errorf("tls= is taken for %v", on)
	}
}

// accepted is what a URL with hosts may look like. It was written from the documentation, not from the parser.
var accepted = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:)?//([^@/?#\s]*@)?` +
	`(` + oneHost + `(,` + oneHost + `)*)?(/[^,?#\s]*)?(\?[^?#\s]*)?$`)

const oneHost = `([\pL\pN._%-]+|\[[0-9A-Fa-f:.]+(%25[^\]]+)?\])(:[0-9]+)?`

// A URL that is accepted and has hosts looks like one, each of its hosts is a host, and written back it is the same.
func FuzzParseURL(f *testing.F) {
	for _, tt := range mistakes {
		f.Add(tt.raw)
	}
	for _, raw := range hostileURLs {
		f.Add(raw)
	}
	f.Add("etcd://u:p@[fe80::1%25eth0]:1,h2/a%2Cb?prefix=x")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := driver.ParseURL(raw)
		if scheme, _, _ := strings.Cut(raw, ":"); err != nil && strings.Contains(err.Error(), "s3cret") &&
			!strings.Contains(scheme, "s3cret") {
			t.Errorf("%q: the error shows the password: %v", raw, err)
		}
		if err != nil || u.Host == "" {
			return
		}
		if !accepted.MatchString(raw) {
			t.Errorf("%q is accepted; hosts %q, path %q", raw, u.Host, u.Path)
		}
		for _, host := range driver.Hosts(u, "1") {
			name, port, err := net.SplitHostPort(host)
			if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 1 || n > 65535 || name == "" {
				t.Errorf("%q: host %q", raw, host)
			}
		}
		if n := strings.Count(u.Host, ",") + 1; len(driver.Hosts(u, "1")) != n {
			t.Errorf("%q: hosts %q of %d", raw, driver.Hosts(u, "1"), n)
		}
		again, err := driver.ParseURL(u.String())
		if err != nil {
			t.Fatalf("%q is accepted, and written as %q it is not: %v", raw, u, err)
		}
		login, loginAgain := u.User.String(), again.User.String()
		if again.Scheme != u.Scheme || again.Host != u.Host || again.Path != u.Path || login != loginAgain ||
			again.RawQuery != u.RawQuery || again.EscapedPath() != u.EscapedPath() {
			t.Errorf("%q is %#v; written as %q it is %#v", raw, u, u, again)
		}
	})
}
