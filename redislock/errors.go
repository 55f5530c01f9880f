package redislock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

var errNotUnderstood = errors.New("redis: a script returned an unexpected answer")

// URLs as messages show them.
const (
	likeServer   = "redis://localhost:6379"
	likeSentinel = "redis-sentinel://host1,host2,host3/mymaster"
)

// needsOneServer says why a foreign layout is refused in a cluster. A client that takes a node of a cluster for a
// single server finds out by CROSSSLOT, with the same words.
const needsOneServer = "locks of other libraries need one server, as their keys lie on different nodes of a cluster"

// explain turns an error that the server answered into one that says what to do, and that wraps [driver.ErrRefused]
// when asking again cannot help. Other errors stay as they are, because the outcome is unknown. No text of Redis
// repeats a password.
func explain(err error) error {
	reply, ok := errors.AsType[ReplyError](err)
	if !ok {
		return err
	}
	text := strings.TrimPrefix(string(reply), "ERR ") // which not every client passes on
	for _, r := range refusals {
		if strings.HasPrefix(text, r.prefix) || r.anywhere && strings.Contains(text, r.prefix) {
			if r.passes {
				return fmt.Errorf("redis answered %q; %s", text, r.advice)
			}
			return fmt.Errorf("redis answered %q; %s: %w", text, r.advice, driver.ErrRefused)
		}
	}
	return fmt.Errorf("redis answered %q", text)
}

// permit is the advice for a user who lacks a permission that a driver needs.
const permit = "let the user run EVAL, EVALSHA, SUBSCRIBE, SCAN and the commands of the scripts, " +
	"on the keys and channels under the prefix; docs/redis.md has the ACL"

// refusals are the answers that need advice. Asking again after one cannot help, unless it passes by itself. A server
// that is loading, busy, cut off from its primary or failing over will soon answer differently, so it is not listed
// or passes. A script whose user lacks a permission may have begun: a claim that it granted before it failed is
// nobody's, and ends by its TTL.
var refusals = []struct {
	prefix   string
	anywhere bool
	passes   bool
	advice   string
}{
	{
		prefix: "HOLDFASTVERSION",
		advice: "the lock is stored in a format that this version does not know; " +
			"run the same version of holdfast everywhere",
	},
	{prefix: "NOAUTH", advice: "give a user and a password in the URL"},
	{prefix: "WRONGPASS", advice: "check the user and the password"},
	{prefix: "invalid password", advice: "check the password"},
	{prefix: "AUTH", advice: "leave the password out, or set one on the server"},
	{prefix: "NOPERM", advice: permit},
	{prefix: "The user executing the script can't", anywhere: true, advice: permit}, // Redis 7.0
	{prefix: "ACL failure in script", anywhere: true, advice: permit},               // later ones, and Valkey
	{
		prefix: "WRONGTYPE", anywhere: true,
		advice: "something else is stored under the lock's keys; use another name or prefix",
	},
	{
		prefix: "READONLY", passes: true,
		advice: "this server is a replica; if it does not become the primary soon, connect to the primary, " +
			"or open a redis-sentinel: URL, which finds the primary",
	},
	{prefix: "MOVED ", advice: "this server is part of a cluster; use a URL like redis-cluster://host1,host2"},
	{prefix: "CROSSSLOT", advice: needsOneServer},
	{
		prefix: "No such master with that name", anywhere: true,
		advice: "the sentinels do not know the name after the hosts; SENTINEL MASTERS lists the names they know",
	},
	{
		prefix: "NOREPLICAS", passes: true,
		advice: "too few replicas follow the primary, so it takes no writes; check the replicas",
	},
	{
		prefix: "MISCONF", anywhere: true, passes: true,
		advice: "the server cannot write to its disk, so it takes no writes; check the disk",
	},
	{prefix: "OOM", advice: "the server's memory is full; give it more or free some"},
	{prefix: "DB index", advice: "choose a database that exists"},
	{prefix: "Error compiling script", anywhere: true, advice: "the server must be Redis 7.0 or newer"},
	{prefix: "unknown command 'SENTINEL'", advice: "this server is not a sentinel; use a URL like " + likeServer},
	{
		prefix: "unknown command",
		advice: "the server must be Redis 7.0 or newer and allow scripts; for sentinels use a URL like " + likeSentinel,
	},
}

func isNoScript(err error) bool {
	reply, ok := errors.AsType[ReplyError](err)
	return ok && strings.HasPrefix(string(reply), "NOSCRIPT")
}
