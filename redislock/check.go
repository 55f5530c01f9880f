package redislock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Check examines each server that takes writes, as [driver.Checker] says: its version, role, what it does when its memory
// is full, and what it keeps across a restart. It also tries what those do who wait for a lock.
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	return check(ctx, d.conn, d.post.ready)
}

// Check examines the server as [Driver.Check] does.
func (g *Guest) Check(ctx context.Context) ([]driver.Finding, error) {
	return check(ctx, g.conn, g.tryToHear)
}

// check examines the servers, and has the client listen for a lock.
func check(ctx context.Context, conn Conn, listen func(ctx context.Context, lock string) error) ([]driver.Finding, error) {
	findings, err := checkPrimaries(ctx, conn)
	if err != nil {
		return nil, err
	}
	deaf, err := checkHearing(ctx, listen)
	return append(findings, deaf...), err
}

// checkHearing finds a user who may take locks and not wait for them.
func checkHearing(ctx context.Context, listen func(ctx context.Context, lock string) error) ([]driver.Finding, error) {
	err := explain(listen(ctx, "holdfast-check-"+rand.Text()))
	if errors.Is(err, driver.ErrRefused) {
		return []driver.Finding{{Level: driver.Unsafe, Fact: "it is not possible to listen: " + err.Error(), Advice: "who waits for a lock is told of its turn there: nobody can wait until this is allowed"}}, nil
	}
	return nil, err
}

func checkPrimaries(ctx context.Context, conn Conn) ([]driver.Finding, error) {
	primaries, err := conn.Primaries(ctx)
	if err != nil {
		return nil, explain(err)
	}
	var all []driver.Finding
	for _, server := range primaries {
		findings, err := checkServer(ctx, server)
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

func checkServer(ctx context.Context, server Conn) ([]driver.Finding, error) {
	values, err := server.Do(ctx, Command{Head: []string{"INFO"}})
	if err != nil {
		return nil, explain(err)
	}
	info := parseInfo(strings.Join(values, "\n"))
	return []driver.Finding{
		checkVersion(info),
		checkRole(info),
		checkMemory(info),
		checkPersistence(ctx, server, info),
	}, nil
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

// oldest is the first version whose scripts can say that they may run when memory is full.
const oldest = 7

func checkVersion(info map[string]string) driver.Finding {
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		return driver.Finding{Level: driver.Unsafe, Fact: "the server's version is " + version, Advice: fmt.Sprintf("upgrade to Redis %d.0 or newer: locks do not work on older ones", oldest)}
	}
	return driver.Finding{Fact: "the server's version is " + version}
}

func checkRole(info map[string]string) driver.Finding {
	role, replicas := info["role"], info["connected_slaves"]
	switch {
	case role != "master":
		return driver.Finding{Level: driver.Unsafe, Fact: "the server is a replica", Advice: "connect to the primary: a replica refuses to write"}
	case replicas != "0" && replicas != "":
		return driver.Finding{Level: driver.Warning, Fact: "the server has " + replicas + " replicas", Advice: "a failover to one that lacks the last writes forgets locks: guard what must not be written twice with the fencing token; set replicas=1 in the URL and min-replicas-to-write 1 on the servers to make that rare, or use a quorum of servers"}
	}
	return driver.Finding{Fact: "the server is a primary without replicas"}
}

func checkMemory(info map[string]string) driver.Finding {
	policy := info["maxmemory_policy"]
	fact := "maxmemory-policy is " + policy
	switch {
	case policy == "noeviction":
		return driver.Finding{Fact: fact}
	case info["maxmemory"] == "0":
		return driver.Finding{Level: driver.Warning, Fact: fact + ", without maxmemory", Advice: "set maxmemory-policy noeviction before maxmemory is ever set: every key of a lock has an expiry, so all of those policies evict locks"}
	}
	return driver.Finding{Level: driver.Unsafe, Fact: fact, Advice: "set maxmemory-policy noeviction: when memory is full, locks that are held are thrown away"}
}

func checkPersistence(ctx context.Context, server Conn, info map[string]string) driver.Finding {
	if info["aof_enabled"] != "1" {
		return driver.Finding{Level: driver.Warning, Fact: "appendonly is no", Advice: "a restart forgets the locks that are held: set appendonly yes and appendfsync always, or wait a TTL before clients may connect again"}
	}
	values, err := server.Do(ctx, Command{Head: []string{"CONFIG", "GET", "appendfsync"}})
	if err != nil || len(values) < 2 {
		return driver.Finding{Level: driver.Warning, Fact: "appendonly is yes", Advice: "check that appendfsync is always: this user may not read it"}
	}
	fact := "appendonly is yes, appendfsync is " + values[1]
	if values[1] == "always" {
		return driver.Finding{Fact: fact}
	}
	return driver.Finding{Level: driver.Warning, Fact: fact, Advice: "a crash of the machine may forget the locks of the last seconds: set appendfsync always"}
}
