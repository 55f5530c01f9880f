package redislock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
)

// Check examines each server that takes writes, as [driver.Checker] says: its version, its role, what it does when
// its memory is full, and what it keeps across a restart. It also tries to listen, as clients do that wait for a
// lock.
func (d *native) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	return check(ctx, d.conn, d.opts, d.listener.ready)
}

// Check examines the server as [native.Check] does.
func (f *foreign) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	return check(ctx, f.conn, f.opts, f.tryToListen)
}

// A listenFunc tries to listen for a lock, as those do who wait for it.
type listenFunc func(ctx context.Context, lock string) error

// check examines the servers, and has the client listen for a lock.
func check(ctx context.Context, conn Conn, opts Options, listen listenFunc) ([]driver.Finding, error) {
	findings, err := checkPrimaries(ctx, conn, opts)
	if err != nil {
		return nil, err
	}
	if !conn.Cluster() {
		findings = append(findings, checkSlots(ctx, conn, opts)...)
	}
	mute, err := checkListening(ctx, listen)
	return append(findings, mute...), err
}

// checkListening finds a user who has the permission to take locks and not to wait for them.
func checkListening(ctx context.Context, listen listenFunc) ([]driver.Finding, error) {
	err := explain(listen(ctx, "holdfast-check-"+rand.Text()))
	if errors.Is(err, driver.ErrRefused) {
		return []driver.Finding{{
			Level: driver.Unsafe, Fact: "it is not possible to listen: " + err.Error(),
			Advice: "clients that wait for a lock are told there when they have it: " +
				"nobody can wait until this is allowed",
		}}, nil
	}
	return nil, err
}

func checkPrimaries(ctx context.Context, conn Conn, opts Options) ([]driver.Finding, error) {
	primaries, err := conn.Primaries(ctx)
	if err != nil {
		return nil, explain(err)
	}
	var all []driver.Finding
	for _, server := range primaries {
		findings, err := checkServer(ctx, server, opts)
		if err != nil {
			return nil, err
		}
		for _, f := range findings {
			if len(primaries) > 1 {
				f.Fact = server.Name() + ": " + f.Fact
			}
			all = append(all, f)
		}
	}
	return all, nil
}

func checkServer(ctx context.Context, server Conn, opts Options) ([]driver.Finding, error) {
	values, err := server.Do(ctx, Command{Head: []string{"INFO"}})
	if err != nil {
		return nil, explain(err)
	}
	info := parseInfo(strings.Join(values, "\n"))
	if isSentinel(info) {
		return []driver.Finding{{
			Level: driver.Unsafe, Fact: "the server is a sentinel", Advice: "use a URL like " + likeSentinel,
		}}, nil
	}
	return append([]driver.Finding{
		checkVersion(info),
		checkRole(info, opts),
		checkMemory(info),
		checkPersistence(ctx, server, info),
	}, checkFaults(server, info, opts)...), nil
}

// checkFaults tells of known faults of the server's version. Valkey has its own, and tells it beside that of the Redis
// whose commands it has.
func checkFaults(server Conn, info map[string]string, opts Options) []driver.Finding {
	var setups []knownfaults.Setup
	if _, ok := server.(*sentinelConn); ok {
		setups = append(setups, knownfaults.WithSentinels)
	}
	if info["cluster_enabled"] == "1" {
		setups = append(setups, knownfaults.InCluster)
	}
	if opts.Layout == PythonRedisLock {
		setups = append(setups, knownfaults.BlockingPops)
	}
	if own := info["valkey_version"]; own != "" {
		return knownfaults.Findings(knownfaults.Valkey, own, setups...)
	}
	return knownfaults.Findings(knownfaults.Redis, info["redis_version"], setups...)
}

// probedSlots is for how many keys a single server is asked whether it keeps them. They are the same each time.
const probedSlots = 32

// checkSlots finds out whether a server that the URL takes for a single one is a node of a cluster, which keeps only
// some of the keys: whether a lock can be had there depends on its name. A proxy before a cluster keeps all.
func checkSlots(ctx context.Context, conn Conn, opts Options) []driver.Finding {
	for i := range probedSlots {
		key := fmt.Sprintf("%s{doctor %d}", opts.Prefix, i)
		_, err := conn.Do(ctx, Command{Head: []string{"GET"}, Keys: []string{key}})
		if reply, ok := errors.AsType[ReplyError](err); ok && strings.HasPrefix(string(reply), "MOVED ") {
			return []driver.Finding{{
				Level: driver.Unsafe, Fact: "the server is a node of a cluster, and keeps only some of the locks",
				Advice: "use a URL like " + likeCluster + ": here most locks are refused, depending on their names",
			}}
		}
	}
	return nil
}

// isSentinel knows the field by both of its names: the second is Valkey's.
func isSentinel(info map[string]string) bool {
	return info["redis_mode"] == "sentinel" || info["server_mode"] == "sentinel"
}

// parseInfo reads the lines "field:value" of INFO.
func parseInfo(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[field] = value
		}
	}
	return info
}

// oldest is the first version in which a script can declare that it may run when memory is full.
const oldest = 7

// checkVersion judges Valkey by the version of Redis that it tells besides its own, whose commands it has.
func checkVersion(info map[string]string) driver.Finding {
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		return driver.Finding{
			Level: driver.Unsafe, Fact: "the server's version is " + version,
			Advice: fmt.Sprintf("upgrade to Redis %d.0 or newer: locks do not work on older versions", oldest),
		}
	}
	if own := info["valkey_version"]; own != "" {
		version = own + " of Valkey"
	}
	return driver.Finding{Fact: "the server's version is " + version}
}

func checkRole(info map[string]string, opts Options) driver.Finding {
	if info["role"] != "master" {
		return driver.Finding{
			Level: driver.Unsafe, Fact: "the server is a replica",
			Advice: "connect to the primary: a replica refuses to write",
		}
	}
	replicas, _ := strconv.Atoi(info["connected_slaves"])
	if replicas == 0 && opts.Replicas == 0 {
		return driver.Finding{Fact: "the server is a primary without replicas"}
	}
	fact := fmt.Sprintf("the server has %s", plural(replicas, "replica"))
	if opts.Replicas > 0 {
		fact += fmt.Sprintf(", and %d must have a grant before it counts", opts.Replicas)
	}
	level, advice := replicaAdvice(replicas, info["min_slaves_good_slaves"] != "", opts)
	return driver.Finding{Level: level, Fact: fact, Advice: advice}
}

// replicaAdvice says what to do about a server that has replicas, or should have some. It is guarded if it takes no
// writes while it has too few of them.
func replicaAdvice(replicas int, guarded bool, opts Options) (driver.Level, string) {
	const forgets = "a failover to a replica that lacks the last writes forgets locks: " +
		"guard what must not be written twice with the fencing token; "
	switch {
	case opts.Layout != Native:
		return driver.Warning, forgets + "set min-replicas-to-write 1 on the servers to make that rarer"
	case opts.Replicas == 0:
		return driver.Warning, forgets + "set replicas=1 in the URL and min-replicas-to-write 1 on the servers " +
			"to make that rare, or use a quorum of servers"
	case opts.Replicas > replicas:
		return driver.Unsafe, "no lock is granted until there are enough replicas: " +
			"check the replicas and their links, or ask for fewer"
	case opts.Replicas < replicas:
		return driver.Warning, fmt.Sprintf("%sset replicas=%d in the URL to make that rarer; "+
			"then no lock is granted while a replica is down", forgets, replicas)
	case !guarded:
		return driver.Warning, "set min-replicas-to-write 1 on the servers: " +
			"then a primary that is cut off from its replicas refuses by itself"
	}
	return driver.Fine, ""
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func checkMemory(info map[string]string) driver.Finding {
	policy := info["maxmemory_policy"]
	fact := "maxmemory-policy is " + policy
	switch {
	case policy == "noeviction":
		return driver.Finding{Fact: fact}
	case info["maxmemory"] == "0":
		return driver.Finding{
			Level: driver.Warning, Fact: fact + ", without maxmemory",
			Advice: "set maxmemory-policy noeviction before maxmemory is ever set: " +
				"every key of a lock has an expiry, so all of those policies evict locks",
		}
	}
	return driver.Finding{
		Level: driver.Unsafe, Fact: fact,
		Advice: "set maxmemory-policy noeviction: when memory is full, locks that are held are thrown away",
	}
}

func checkPersistence(ctx context.Context, server Conn, info map[string]string) driver.Finding {
	if info["aof_enabled"] != "1" {
		return driver.Finding{
			Level: driver.Warning, Fact: "appendonly is no",
			Advice: "a restart forgets the locks that are held: set appendonly yes and appendfsync always, " +
				"or wait for one TTL before clients may connect again",
		}
	}
	values, err := server.Do(ctx, Command{Head: []string{"CONFIG", "GET", "appendfsync"}})
	if err != nil || len(values) < 2 {
		return driver.Finding{
			Level: driver.Warning, Fact: "appendonly is yes",
			Advice: "check that appendfsync is always: this user may not read it",
		}
	}
	fact := "appendonly is yes, appendfsync is " + values[1]
	if values[1] == "always" {
		return driver.Finding{Fact: fact}
	}
	return driver.Finding{
		Level: driver.Warning, Fact: fact,
		Advice: "a crash of the machine may forget the locks of the last seconds: set appendfsync always",
	}
}
