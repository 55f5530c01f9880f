package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A mistaken URL is one with a mistake that people make, and what the command says of it.
type mistaken struct{ url, want string }

// mistakenURLs are mistakes for each engine, by the scheme. Nothing listens at any of these places, so what is refused
// is refused for what is written.
var mistakenURLs = map[string][]mistaken{
	"file": {
		{"file://tmp/locks.db", "the URL has no host"},
		{"file:~/locks.db", "a ~ stands for a home only where a shell reads it"},
		{"file:/tmp/a#b.db", "it is cut off at a #"},
		{"file: /tmp/locks.db", "it has white space"},
		{"file:/tmp/locks.db?prefix=a", "unknown parameter"},
		{"'file:/tmp/locks.db'", "a quotation mark"},
	},
	"redis": {
		{"redis://127.0.0.1:1,redis://127.0.0.2:1", "a second scheme"},
		{"redis://127.0.0.1:1/0,127.0.0.2:1/0", "its path has a comma"},
		{"redis://127.0.0.1:1//0", "two slashes together"},
		{"redis:127.0.0.1:1", "two slashes are missing"},
		{"redis://127.0.0.1:1,127.0.0.2:1", "the URL should have one host"},
		{"redis://127.0.0.1:1/holdfast", "the number of a database"},
		{"redis://127.0.0.1:1/+1", "the number of a database"},
		{"redis://127.0.0.1:1?db=1", "unknown parameter"},
		{"redis:///0", "the URL should have one host"},
	},
	"redis-sentinel": {
		{"redis-sentinel://127.0.0.1:1/a,127.0.0.2:1/a", "its path has a comma"},
		{"redis-sentinel://127.0.0.1:1", "name of their master"},
		{"redis-sentinel://127.0.0.1:1/a?db=-1", "db: it should be 0 or more"},
	},
	"redis-cluster": {
		{"redis-cluster://u:geheim@127.0.0.1:1,u:geheim@127.0.0.2:1", "a second @"},
		{"redis-cluster://127.0.0.1:1/1", "a cluster has one database"},
	},
	"redis+unix": {
		{"redis+unix://run/redis.sock", "three slashes"},
		{"redis+unix:/run/redis.sock?db=-1", "db: it should be 0 or more"},
	},
	"redlock": {
		{"redlock://127.0.0.1:1/0,127.0.0.2:1/0,127.0.0.3:1/0", "its path has a comma"},
		{"redlock://127.0.0.1:1,127.0.0.2:1,127.0.0.1:1", "twice"},
		{"redlock://127.0.0.1:1,127.0.0.2:1,localhost:1,LOCALHOST:1", "twice"},
		{"redlock://127.0.0.1:1,127.0.0.2:1", "at least 3"},
		{"redlock://127.0.0.1:1,127.0.0.2:1,127.0.0.3:1/a", "the number of a database"},
		{"redlock://127.0.0.1:1,127.0.0.2:1,127.0.0.3:1?socket=/a", "either a host or"},
	},
	"etcd": {
		{"etcd://http://127.0.0.1:1", "a second scheme"},
		{"etcd://127.0.0.1:1,http://127.0.0.2:1", "a second scheme"},
		{"etcd://127.0.0.1:1/a,127.0.0.2:1/a", "its path has a comma"},
		{"etcd://127.0.0.1:1//a", "two slashes together"},
		{"etcd://127.0.0.1:1/a?prefix=/b", "they mean the same"},
		{"etcd://127.0.0.1:1/team/?layout=concurrency", "use the parameter prefix"},
		{"etcd://:geheim@127.0.0.1:1", "both a user and a password"},
		{"etcd:///127.0.0.1:1", "names no server"},
		{"http://127.0.0.1:1", `no backend for "http:"`},
	},
	"zk": {
		{"zk://127.0.0.1:1/a,127.0.0.2:1/a", "its path has a comma"},
		{"zk://127.0.0.1:1,zk://127.0.0.2:1", "a second scheme"},
		{"zk://127.0.0.1:1//a", "two slashes together"},
		{"zk://127.0.0.1:1/a/../b", ". or .. between"},
		{"zk://:geheim@127.0.0.1:1", "a password and no user"},
		{"zk:///127.0.0.1:1", "names no server"},
		{"zookeeper://127.0.0.1:1", "the form is zk://"},
	},
	"mysql": {
		{"mysql://u:geheim@tcp(127.0.0.1:1)/jobs", "a port that is not a number"},
		{"mysql://u:geheim@tcp(127.0.0.1)/jobs", "a character that no host has"},
		{"mysql://127.0.0.1:1/jobs/locks", "the name of one database"},
		{"mysql://127.0.0.1:1,127.0.0.2:1/jobs", "name one host"},
		{"mysql://127.0.0.1:1/jobs?socket=/run/mysql.sock", "either a host or"},
		{"mysql://127.0.0.1:1", "name the database"},
		{"mysql:u:geheim@127.0.0.1:1/jobs", "two slashes are missing"},
		{"mariadb://127.0.0.1:1/jobs", "the form is mysql://"},
	},
	"postgres": {
		{"postgres://127.0.0.1:1/jobs,127.0.0.2:1/jobs", "its path has a comma"},
		{"postgres://127.0.0.1:1/jobs,postgres://127.0.0.2:1/jobs", "a second scheme"},
		{"postgres://127.0.0.1:1/jobs/locks", "the name of one database"},
		{"postgres://127.0.0.1:1/jobs?host=127.0.0.2", "either hosts or"},
		{"postgres://127.0.0.1:1", "name the database"},
		{"postgresql://u:geheim@127.0.0.1:1/jobs", "the form is postgres://"},
	},
}

// mistakesOfAll are mistakes in the part of a URL that all engines with hosts have in common: what comes in the place
// of the first host and of all that follows it.
var mistakesOfAll = []mistaken{
	{"127.0.0.1:", "a colon and no port"},
	{"127.0.0.1:port", "a port that is not a number"},
	{"127.0.0.1:70000", "1 to 65535"},
	{"127.0.0.1:1, 127.0.0.2:1", "white space"},
	{"127.0.0.1:1 ", "white space"},
	{",127.0.0.1:1", "hosts is empty"},
	{":1", "hosts is empty"},
	{"u:ge@heim@127.0.0.1:1", "a second @"},
	{"u:ge#heim@127.0.0.1:1", "unescaped /, ? or #"},
	{"u:ge/heim@127.0.0.1:1", "unescaped /, ? or #"},
	{"u:12#geheim@127.0.0.1:1", "an @ that comes after"},
	{"127.0.0.1:1#geheim", "it is cut off at a #"},
	{"127.0.0.1:1?a=geheim?b=geheim", "a second ?"},
	{"<host>:1", "a character that no host has"},
	{`127.0.0.1:1"`, "a quotation mark"},
	{"::1", "several colons"},
}

// Each mistake ends with the exit code of a wrong command line, and with words that name it and no password, before
// anybody is asked.
func TestMistakenURLs(t *testing.T) {
	if len(schemes()) < 11 {
		t.Skip("this build leaves out engines")
	}
	covered := slices.Collect(maps.Keys(mistakenURLs))
	for _, scheme := range schemes() {
		all := mistakenURLs[scheme]
		if scheme != "file" && scheme != "redis+unix" {
			for _, m := range mistakesOfAll {
				all = append(all, mistaken{scheme + "://" + m.url, m.want})
			}
		}
		if scheme != "rediss" && !slices.Contains(covered, scheme) {
			t.Errorf("no mistake in a URL of %s is tried", scheme)
		}
		for _, m := range all {
			t.Setenv(backendEnv, m.url)
			out, said, code := whole(t, "ls")
			if code != exitUsage || out != "" || !strings.Contains(said, m.want) || strings.Contains(said, "heim") {
				t.Errorf("%s: exit code %d, said %q; want %d, with %q and no password",
					m.url, code, said, exitUsage, m.want)
			}
		}
	}
}

// rightURLs are without mistakes, and nobody answers there.
var rightURLs = []string{
	"redis://127.0.0.1:1/3?prefix=a:", "rediss://u:p@127.0.0.1:1", "redis-sentinel://127.0.0.1:1,127.0.0.2/a%20b?db=1",
	"redis-cluster://127.0.0.1:1,127.0.0.2", "redis+unix:///nowhere/redis.sock?db=3",
	"redlock://127.0.0.1:1,127.0.0.2:1,127.0.0.3:1/0?tls=true", "etcd://u:p%40%2F@127.0.0.1:1,[::1]:1/a%2Cb",
	"zk://u:p@127.0.0.1:1,127.0.0.2/a/b/?layout=curator", "mysql://u:p@127.0.0.1:1/jobs?mode=session&layout=raw",
	"mysql:///jobs?socket=/nowhere/my.sock", "postgres://u:p@127.0.0.1:1,127.0.0.2/jobs?layout=shedlock",
	"postgres:///jobs?host=/nowhere", "postgres://localhost/jobs?host=/nowhere",
}

// With a context that has ended nobody is asked, and a URL without a mistake fails for that alone. So a program can
// tell the one from the other.
func TestOpenWithAnEndedContext(t *testing.T) {
	if len(schemes()) < 11 {
		t.Skip("this build leaves out engines")
	}
	over, end := context.WithCancel(t.Context())
	end()
	for _, url := range rightURLs {
		d, err := drivertest.Open(over, url)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that of the context", url, err)
		}
		if d != nil {
			d.Close()
		}
	}
}
