package driver_test

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// hostileURLs hold the password "s3cret" in every place where people put one.
var hostileURLs = []string{
	"redis://user:s3cret@localhost:6379/0",
	"redis://:s3cret@localhost",
	"redis://user:s3cret@host1:6379,host2:6379/master",
	"redis://user:s3cret@[::1]:6379",
	"redis://user:pass%2Fs3cret@localhost",
	"redis://user:s3cret@localhost?password=s3cret",
	"redis://localhost/0?password=s3cret",
	"redis://localhost/0#s3cret",
	"redis:user:s3cret@localhost",
	"redis:user:s3cret@localhost?password=s3cret",
	"redis:/user:s3cret@localhost",
	"redis:///user:s3cret@localhost/0",
	"redis://user:s3cret@local host",
	"redis://user:s3cret@localhost:port",
	"redis://user:s3cret%zz@localhost",
	"redis://user:%s3cret@localhost",
	"redis://user:s3cret#more@localhost",
	"redis://user:s3cret?more@localhost",
	"redis://user:s3cret/more@localhost",
	"redis://user:1234/s3cret@localhost", // that begins as a port could
	"redis://user:1234#s3cret@localhost",
	"redis://user:1234?s3cret@localhost",
	"redis://user:1234?s3cret=more@localhost",
	"redis-cluster://user:1234,5/s3cret@host1,host2",
	"redis://user:s3cret\x7f@localhost",
	"redis://user:s3cret\n@localhost",
	"redis://[user:s3cret@localhost",
	"://user:s3cret@localhost",
	":s3cret@localhost",
	"user:s3cret@localhost",
	"//user:s3cret@localhost",
	"1redis://user:s3cret@localhost",
	"re dis://user:s3cret@localhost",
	"postgres://user:s3cret@host/db?sslmode=disable&password=s3cret",
	"mysql://user:s3cret@tcp(localhost:3306)/db",
}

// knownScheme is registered with a driver that cannot be opened.
const knownScheme = "redis"

var errClosed = errors.New("connection refused")

func init() {
	driver.Register(knownScheme, func(_ context.Context, u *url.URL) (driver.Driver, error) {
		p := driver.NewParams(u)
		p.String("password", "")
		return nil, cmp.Or(p.Err(), errClosed)
	})
}

// Whatever is wrong with a URL, no error shows its password.
func TestOpenHidesPasswords(t *testing.T) {
	for _, raw := range hostileURLs {
		_, err := driver.Open(t.Context(), raw)
		if err == nil {
			t.Errorf("%q was opened", raw)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error shows the password: %v", raw, err)
		}
	}
}

// Whatever people read of a URL, its password is not in it.
func TestRedactHidesPasswords(t *testing.T) {
	for _, raw := range hostileURLs {
		if u, err := driver.ParseURL(raw); err == nil && strings.Contains(driver.Redact(u), "s3cret") {
			t.Errorf("%q is shown as %q", raw, driver.Redact(u))
		}
	}
}

// What is harmless is still there, so that people recognise their backend.
func TestRedactShows(t *testing.T) {
	for raw, want := range map[string]string{
		"redis://user:pw@localhost:6379/0?x=y": "redis://user@localhost:6379/0",
		"redis://:pw@localhost":                "redis://localhost",
		"redis-sentinel://h1:1,h2:2/master":    "redis-sentinel://h1:1,h2:2/master",
		"etcd://u:pw@h1:1,h2/prefix?x=y":       "etcd://u@h1:1,h2/prefix",
		"file:/var/tmp/locks.db":               "file:/var/tmp/locks.db",
		"file:locks.db":                        "file:locks.db",
		"file:/home/me@work/locks.db":          "file:/home/me@work/locks.db",
		"etcd://h1/me@work":                    "etcd://h1/me@work",
		"etcd://h1:1/me%40work":                "etcd://h1:1/me%40work",
		"etcd://[::1]/me@work":                 "etcd://[::1]/me@work",
		"redis://h1:1?prefix=me@work":          "redis://h1:1",
		"mem:tests":                            "mem:tests",
	} {
		u, err := driver.ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if got := driver.Redact(u); got != want {
			t.Errorf("%s is shown as %q, want %q", raw, got, want)
		}
	}
}

func TestRedactLeavesTheURL(t *testing.T) {
	const raw = "redis://user:pw@localhost?x=y"
	u, err := driver.ParseURL(raw)
	if err != nil {
		t.Fatal(err)
	}
	driver.Redact(u)
	if u.String() != raw {
		t.Errorf("Redact changed the URL to %s", u)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"redis://localhost:1", "open redis://localhost:1: connection refused"},
		{"redis:", "open redis: connection refused"},
		{"zk://localhost", "import github.com/holdfast-go/holdfast/zklock"},
		{"rediss://localhost", "import github.com/holdfast-go/holdfast/redislock"},
		{"carrier-pigeon://loft", `unknown scheme "carrier-pigeon"; it should be one like`},
		{"localhost", "unknown scheme"},
		{"", "unknown scheme"},
		{"redis://%zz", "an invalid %-escape"},
	} {
		if _, err := driver.Open(t.Context(), tt.raw); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got error %v, want %q", tt.raw, err, tt.want)
		}
	}
	if _, err := driver.Open(t.Context(), "redis://localhost"); !errors.Is(err, errClosed) {
		t.Errorf("got error %v, want one that wraps the driver's", err)
	}
}

func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two drivers share a scheme, and which one is opened depends on the order of imports")
		}
	}()
	driver.Register(knownScheme, nil)
}

func TestHosts(t *testing.T) {
	for raw, want := range map[string][]string{
		"redis://localhost":         {"localhost:6379"},
		"redis://localhost:7000/0":  {"localhost:7000"},
		"redis://h1,h2,h3/master":   {"h1:6379", "h2:6379", "h3:6379"},
		"redis://u:p@h1:1,h2:2":     {"h1:1", "h2:2"},
		"redis://u:p@h1:1,h2/0?x=y": {"h1:1", "h2:6379"},
		"redis://[::1]:1,[::2]":     {"[::1]:1", "[::2]:6379"},
		"redis://[::1]":             {"[::1]:6379"},
		"redis://[::1]:7000":        {"[::1]:7000"},
		"redis:///0":                nil,
	} {
		u, err := driver.ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if got := driver.Hosts(u, "6379"); !slices.Equal(got, want) {
			t.Errorf("%s: hosts %q, want %q", raw, got, want)
		}
	}
}
