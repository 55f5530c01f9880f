package redisfence_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/redisfence"
	"github.com/holdfast-go/holdfast/internal/fencetest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func connect(t *testing.T, addrs ...string) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestDo(t *testing.T) {
	s := servers.Redis(t)
	guard := &redisfence.Guard{Client: connect(t, s.Addr)}
	r := fencetest.Trial{T: t, Use: func(resource string, token uint64) error {
		want := fence.Format(token)
		before := s.RedisCommand(t, "GET", "data")
		err := guard.Do(t.Context(), resource, token, "SET", []string{"data"}, want).Error()
		if err != nil {
			want = before
		}
		if got := s.RedisCommand(t, "GET", "data"); got != want {
			t.Errorf("after token %d for %q the data is %s, want %s", token, resource, got, want)
		}
		return err
	}}
	r.Admits("a", 9)
	r.Admits("a", 9)
	r.Admits("a", 10) // which is less than 9 as text
	r.Refuses("a", 9)
	r.Admits("a", 1<<53+1)
	r.Refuses("a", 1<<53) // which is the same number for Lua
	r.Admits("b", 5)
	r.Admits("{b}'s", 4) // another resource with the same tag
	r.Admits("{b}", 3)   // and one that is nothing but the tag
	r.Refuses("b", 4)
	r.Admits("{c", 5)
	r.Admits("{{c}", 4)
	r.Admits("a", fence.MaxToken)
	r.Refuses("a", fence.MaxToken-1)
}

func TestDoAnswersLikeTheCommand(t *testing.T) {
	s := servers.Redis(t)
	guard := &redisfence.Guard{Client: connect(t, s.Addr), Keep: time.Minute}
	if n, err := guard.Do(t.Context(), "a", 5, "RPUSH", []string{"list"}, "x", "y").AsInt64(); n != 2 || err != nil {
		t.Errorf("RPUSH answers %d, %v", n, err)
	}
	err := guard.Do(t.Context(), "a", 6, "INCR", []string{"list"}).Error()
	if err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("a command that fails: %v", err)
	}
	if err := guard.Do(t.Context(), "a", 5, "DEL", []string{"list"}).Error(); !errors.Is(err, fence.ErrStale) {
		t.Errorf("a token smaller than that of a command that failed: %v", err)
	}
	if ttl := s.RedisCommand(t, "TTL", "{a}:fence"); ttl != "60" && ttl != "59" {
		t.Errorf("the token is remembered for %s s", ttl)
	}
}

func TestDoRefuses(t *testing.T) {
	guard := &redisfence.Guard{Client: connect(t, servers.Redis(t).Addr)}
	for _, row := range []struct {
		resource string
		token    uint64
	}{{"a", 0}, {"a", fence.MaxToken + 1}, {"", 5}, {"a}b", 5}, {"{}a", 5}} {
		err := guard.Do(t.Context(), row.resource, row.token, "SET", []string{"k"}, "v").Error()
		if err == nil || errors.Is(err, fence.ErrStale) {
			t.Errorf("token %d for %q: %v", row.token, row.resource, err)
		}
	}
}

func TestDoInACluster(t *testing.T) {
	var addrs []string
	for _, s := range servers.RedisCluster(t).Masters {
		addrs = append(addrs, s.Addr)
	}
	guard := &redisfence.Guard{Client: connect(t, addrs...)}
	for _, resource := range []string{"a", "b", "c", "{d}", "x{e}y"} {
		key := "{" + strings.Trim(resource, "{}xy") + "}:data"
		if err := guard.Do(t.Context(), resource, 5, "SET", []string{key}, "v").Error(); err != nil {
			t.Errorf("%q with the key %q: %v", resource, key, err)
		}
	}
	// Which cannot be one step with the check.
	for _, keys := range [][]string{{"{b}:data"}, {"{a}:data", "data"}} {
		err := guard.Do(t.Context(), "a", 5, "DEL", keys).Error()
		if err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "{a}") {
			t.Errorf("keys %q of other slots: %v", keys, err)
		}
	}
}
