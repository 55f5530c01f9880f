package redislock_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// setUser is the command that a page of docs has for a user, in words.
func setUser(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "ACL SETUSER ") {
			return strings.Fields(line)
		}
	}
	t.Fatalf("%s has no line ACL SETUSER", page)
	return nil
}

// addUser makes the user of a page on some servers.
func addUser(t *testing.T, page string, group ...*servers.Server) {
	t.Helper()
	for _, s := range group {
		if answer := s.RedisCommand(t, setUser(t, page)...); answer != "OK" {
			t.Fatal(answer)
		}
	}
}

// The users of the pages may do all that the drivers do, wherever the keys are.
func TestACL(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	contract := func(t *testing.T, page, params string) {
		t.Parallel()
		srv := servers.Redis(t)
		addUser(t, page, srv)
		url := "redis://locks:secret@" + srv.Addr + "/1" + params
		drivertest.Run(t, drivertest.Harness{
			Open: func(t testing.TB) driver.Driver { return openAny(t, url) },
			TTL:  time.Second,
		})
		isFine(t, openAny(t, url))
	}
	t.Run("one server", func(t *testing.T) { contract(t, "redis.md", "") })
	for _, layout := range foreignLayouts {
		t.Run(string(layout), func(t *testing.T) { contract(t, "layouts.md", "?layout="+string(layout)) })
	}
	t.Run("sentinels", func(t *testing.T) {
		t.Parallel()
		g := servers.RedisSentinel(t)
		addUser(t, "redis.md", g.Servers...)
		takeTurns(t, "redis-sentinel://locks:secret@"+addrs(g.Sentinels)+"/"+g.Name+"?replicas=1")
	})
	t.Run("a cluster", func(t *testing.T) {
		t.Parallel()
		c := servers.RedisCluster(t)
		addUser(t, "redis.md", slices.Concat(c.Masters, c.Replicas)...)
		takeTurns(t, "redis-cluster://locks:secret@"+addrs(c.Masters)+"?replicas=1")
	})
}

// takeTurns has two clients share a lock, and lists it.
func takeTurns(t *testing.T, url string) {
	t.Helper()
	one, other := openURL(t, url), openURL(t, url)
	held := acquire(t, one, claim("jobs", long))
	waiting := enqueue(t, other, claim("jobs", long))
	for name, err := range one.List(t.Context(), "j") {
		if err != nil || name != "jobs" {
			t.Errorf("listed: %q, %v", name, err)
		}
	}
	release(t, one, held)
	await(t, other, waiting)
	release(t, other, waiting)
	isFine(t, one)
}

// isFine has a driver examine its servers, which may be as they are, and whose user may do all.
func isFine(t *testing.T, d claimed.Driver) {
	t.Helper()
	findings, err := driver.Check(t.Context(), d, false)
	unsafe, warnings := facts(findings, driver.Unsafe), facts(findings, driver.Warning)
	if err != nil || unsafe != "" || strings.Contains(warnings, "may not read") {
		t.Errorf("examined: %+v, %v", findings, err)
	}
}

// The users of the pages may run each command that is run, and no others.
func TestACLIsComplete(t *testing.T) {
	const client = "eval evalsha subscribe unsubscribe punsubscribe sunsubscribe " +
		"info role select ping discard config|get "
	for page, tt := range map[string]struct {
		foreign bool   // the page is about them
		others  string // commands besides those of scripts: of the Go code, and of its client
	}{
		"redis.md":   {others: client + "ssubscribe scan wait asking cluster|shards cluster|slots"},
		"layouts.md": {others: client + "blpop", foreign: true},
	} {
		want := strings.Fields(tt.others)
		files, err := filepath.Glob("lua/*.lua")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if ofForeign(file) == tt.foreign {
				want = append(want, calls(t, file)...)
			}
		}
		var got []string
		for _, word := range setUser(t, page) {
			if command, ok := strings.CutPrefix(word, "+"); ok {
				got = append(got, command)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s has\n%q, what is run is\n%q", page, got, want)
		}
	}
}

// ofForeign tells whether a script is one of a layout of another library.
func ofForeign(file string) bool {
	name := strings.TrimSuffix(filepath.Base(file), ".lua")
	return strings.HasPrefix(name, "foreign_") || slices.Contains(foreignLayouts, redislock.Layout(name))
}

var calling = regexp.MustCompile(`\bp?call\('([A-Z]+)'`)

// calls are the commands that a script calls.
func calls(t *testing.T, file string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calling.FindAllSubmatch(text, -1) {
		commands = append(commands, strings.ToLower(string(call[1])))
	}
	return commands
}
