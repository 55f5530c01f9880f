// Package redisfence refuses writes to Redis that come from a holder who has lost the lock and does not know it yet.
// The lock may be on any engine: only its fencing tokens matter.
package redisfence

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/fence"
)

//go:embed guard.lua
var script string

var guard = rueidis.NewLuaScript(script)

// A Guard does writes to Redis in the order of tokens. It is safe for concurrent use.
type Guard struct {
	// Client is the caller's, and stays open.
	Client rueidis.Client
	// Keep is how long the greatest token of a resource is remembered after its last use: 30 days when zero. It must be
	// longer than any holder can be paused.
	Keep time.Duration
}

const defaultKeep = 30 * 24 * time.Hour

// Do runs one command, like "SET" with keys and the arguments that follow them, unless a greater token was seen for the
// resource, in which case the error matches [fence.ErrStale]. Check and command are one step of the server. A token
// counts as seen even if the command then fails.
//
// The token of a resource is in the key "{resource}:fence", or "resource:fence:tagged" when the resource has a hash tag
// of its own, so "x" and "{x}" are two resources. In a cluster all keys must be in the same slot, so they have that tag
// too.
func (g *Guard) Do(
	ctx context.Context, resource string, token uint64, command string, keys []string, args ...string,
) rueidis.RedisResult {
	all, err := keysOf(resource, keys)
	if err == nil && g.Client.Mode() == rueidis.ClientModeCluster {
		err = haveOneTag(all)
	}
	if err := errors.Join(err, fence.Check(token)); err != nil {
		return rueidis.NewErrorResult(err)
	}
	keep := cmp.Or(g.Keep, defaultKeep).Milliseconds()
	head := []string{fence.Format(token), strconv.FormatInt(keep, 10), command}
	result := guard.Exec(ctx, g.Client, all, append(head, args...))
	return refused(resource, token, result)
}

// keysOf are the keys that the script declares.
func keysOf(resource string, keys []string) ([]string, error) {
	switch tag := tagOf(resource); {
	case tag != "":
		return append([]string{resource + ":fence:tagged"}, keys...), nil
	case resource == "" || strings.ContainsRune(resource, '}'):
		return nil, fmt.Errorf("the resource %q cannot be a hash tag; name it without braces, or like {tag}rest",
			resource)
	}
	return append([]string{"{" + resource + "}:fence"}, keys...), nil
}

// haveOneTag refuses keys that a cluster may have on several servers: for those the client panics.
func haveOneTag(keys []string) error {
	tag := tagOf(keys[0])
	for _, key := range keys[1:] {
		if cmp.Or(tagOf(key), key) != tag {
			return fmt.Errorf("the key %q may be on another server of the cluster than the token; "+
				"give it the hash tag {%s}", key, tag)
		}
	}
	return nil
}

// tagOf is what a cluster chooses the slot by, where that is not the whole key:
// redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec.
func tagOf(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	if !closed {
		return ""
	}
	return tag
}

// refused makes an error that callers know of the script's.
func refused(resource string, token uint64, result rueidis.RedisResult) rueidis.RedisResult {
	answer, ok := rueidis.IsRedisErr(result.Error())
	if !ok {
		return result
	}
	seen, isStale := strings.CutPrefix(answer.Error(), "STALE ")
	if !isStale {
		return result
	}
	greatest, _ := fence.Parse(seen) // what is there may have been written by others
	return rueidis.NewErrorResult(fence.Stale(resource, token, greatest))
}
