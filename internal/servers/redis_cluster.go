package servers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A ClusterOfRedis is a Redis Cluster: three masters with a third of the slots each, and a replica for each of them.
type ClusterOfRedis struct {
	Masters  []*Server
	Replicas []*Server // of the master at the same place

	ids map[*Server]string
}

const (
	clusterMasters = 3
	slots          = 16384
)

// RedisCluster starts a cluster, and returns when all its servers serve all slots. More arguments go to each server;
// with "--cluster-node-timeout", "1000" replicas replace their masters as fast as a busy machine allows.
func RedisCluster(t testing.TB, args ...string) *ClusterOfRedis {
	t.Helper()
	c := &ClusterOfRedis{ids: make(map[*Server]string)}
	for range clusterMasters {
		c.Masters = append(c.Masters, clusterServer(t, args))
		c.Replicas = append(c.Replicas, clusterServer(t, args))
	}
	for i, s := range c.Masters {
		first, last := i*slots/clusterMasters, (i+1)*slots/clusterMasters-1
		s.redisOK(t, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		s.redisOK(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
	}
	c.meet(t)
	for i, s := range c.Replicas {
		c.replicate(t, s, c.Masters[i])
	}
	c.AwaitServing(t)
	return c
}

// clusterServer starts a server that knows no others. It takes part in their talk at a port that was free, too.
func clusterServer(t testing.TB, args []string) *Server {
	t.Helper()
	_, bus, _ := strings.Cut(FreeAddr(t), ":")
	own := []string{
		"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", bus,
		"--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0",
	}
	return Redis(t, append(own, args...)...)
}

// All returns all servers.
func (c *ClusterOfRedis) All() []*Server {
	return append(append([]*Server(nil), c.Masters...), c.Replicas...)
}

// meet introduces all servers to each other.
func (c *ClusterOfRedis) meet(t testing.TB) {
	t.Helper()
	all := c.All()
	for _, s := range all {
		c.ids[s] = s.RedisCommand(t, "CLUSTER", "MYID")
	}
	for i, s := range all {
		for _, other := range all[:i] {
			bus := strings.Split(other.RedisCommand(t, "CONFIG", "GET", "cluster-port"), "\n")[1]
			s.redisOK(t, "CLUSTER", "MEET", "127.0.0.1", other.Port(), bus)
		}
	}
}

// replicate makes a server a replica as soon as it knows its master.
func (c *ClusterOfRedis) replicate(t testing.TB, s, master *Server) {
	t.Helper()
	waitFor(t, "a server knows its master", func(ctx context.Context) error {
		answer, err := command(ctx, s.Addr, "CLUSTER", "REPLICATE", c.ids[master])
		if err == nil && answer != "OK" {
			err = fmt.Errorf("it answers %q", answer)
		}
		return err
	})
}

// AwaitServing waits until every server that runs says that all slots are served, and every replica among them has what
// its master has.
func (c *ClusterOfRedis) AwaitServing(t testing.TB) {
	t.Helper()
	waitFor(t, "the Redis cluster serves all slots", func(ctx context.Context) error {
		for _, s := range c.All() {
			if s.Pid == 0 {
				continue
			}
			if err := serving(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func serving(ctx context.Context, s *Server) error {
	info, err := command(ctx, s.Addr, "CLUSTER", "INFO")
	if err == nil && !(strings.Contains(info, "cluster_state:ok") &&
		strings.Contains(info, "cluster_size:"+strconv.Itoa(clusterMasters))) {
		err = fmt.Errorf("%s says of the cluster\n%s", s.Addr, info)
	}
	if err != nil {
		return err
	}
	role, err := command(ctx, s.Addr, "INFO", "replication")
	if err == nil && strings.Contains(role, "role:slave") && !strings.Contains(role, "master_link_status:up") {
		err = fmt.Errorf("%s says of its role\n%s", s.Addr, role)
	}
	return err
}

// Owner returns the master that a slot belongs to, as that master says.
func (c *ClusterOfRedis) Owner(t testing.TB, slot int) *Server {
	t.Helper()
	for _, s := range c.All() {
		if s.Pid == 0 {
			continue
		}
		if c.serves(t, s, slot) {
			return s
		}
	}
	t.Fatalf("no master has slot %d", slot)
	return nil
}

// serves reports whether a server says that it is the master to which a slot belongs.
func (c *ClusterOfRedis) serves(t testing.TB, s *Server, slot int) bool {
	t.Helper()
	for line := range strings.Lines(s.RedisCommand(t, "CLUSTER", "NODES")) {
		f := strings.Fields(line)
		if strings.Contains(f[2], "myself") && strings.Contains(f[2], "master") && hasSlot(f[8:], slot) {
			return true
		}
	}
	return false
}

// Leaders returns the servers that are masters now: one for each third of the slots, of which some may have moved.
func (c *ClusterOfRedis) Leaders(t testing.TB) (masters []*Server) {
	t.Helper()
	for i := range clusterMasters {
		masters = append(masters, c.Owner(t, (2*i+1)*slots/(2*clusterMasters)))
	}
	return masters
}

// AwaitOwner waits until a slot belongs to another server than the one that has crashed.
func (c *ClusterOfRedis) AwaitOwner(t testing.TB, slot int, crashed *Server) {
	t.Helper()
	waitFor(t, "a replica takes the place of its master", func(ctx context.Context) error {
		for _, s := range c.All() {
			if s != crashed && s.Pid != 0 && c.serves(t, s, slot) {
				return nil
			}
		}
		return fmt.Errorf("nobody serves slot %d", slot)
	})
}

// hasSlot looks for a slot among numbers and ranges of them.
func hasSlot(ranges []string, slot int) bool {
	for _, r := range ranges {
		first, last, isRange := strings.Cut(r, "-")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err == nil && from <= slot && slot <= to {
			return true
		}
	}
	return false
}

// SlotOf returns the slot of a key.
func (c *ClusterOfRedis) SlotOf(t testing.TB, key string) int {
	t.Helper()
	slot, err := strconv.Atoi(c.Masters[0].RedisCommand(t, "CLUSTER", "KEYSLOT", key))
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

// MoveSlot moves a slot with its keys to another master, one key at a time, while clients use them:
// redis.io/docs/latest/ commands/cluster-setslot. Between two keys it calls between, if that is not nil. On a busy
// machine a master loses sight of others, and takes no key until it sees them again; or its replica takes its place,
// and the slot moves from there.
func (c *ClusterOfRedis) MoveSlot(t testing.TB, slot int, to *Server, between func()) {
	t.Helper()
	for from := c.Owner(t, slot); from != to; from = c.Owner(t, slot) {
		c.moveSlot(t, slot, from, to, between)
	}
}

// moveSlot moves a slot from its master, unless that loses its place meanwhile.
func (c *ClusterOfRedis) moveSlot(t testing.TB, slot int, from, to *Server, between func()) {
	t.Helper()
	number := strconv.Itoa(slot)
	to.redisOK(t, "CLUSTER", "SETSLOT", number, "IMPORTING", c.ids[from])
	from.redisOK(t, "CLUSTER", "SETSLOT", number, "MIGRATING", c.ids[to])
	for {
		key := from.RedisCommand(t, "CLUSTER", "GETKEYSINSLOT", number, "1")
		if key == "" {
			break
		}
		isMaster := true
		waitFor(t, "the other master takes a key", func(context.Context) error {
			answer := from.RedisCommand(t, "MIGRATE", "127.0.0.1", to.Port(), key, "0", "5000")
			switch {
			case strings.Contains(answer, "CLUSTERDOWN"):
				return fmt.Errorf("move the key %q: %s", key, answer)
			case strings.HasPrefix(answer, "MOVED"):
				isMaster = false
			case answer != "OK" && answer != "NOKEY":
				t.Fatalf("move the key %q: %s", key, answer)
			}
			return nil
		})
		if !isMaster {
			return
		}
		if between != nil {
			between()
		}
	}
	to.redisOK(t, "CLUSTER", "SETSLOT", number, "NODE", c.ids[to])
	from.redisOK(t, "CLUSTER", "SETSLOT", number, "NODE", c.ids[to])
}

// redisOK sends a command that must be answered with OK.
func (s *Server) redisOK(t testing.TB, args ...string) {
	t.Helper()
	if answer := s.RedisCommand(t, args...); answer != "OK" {
		t.Fatalf("redis %q: %s", args, answer)
	}
}
