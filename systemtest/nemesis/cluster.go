package nemesis

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// cluster is a Redis Cluster of three masters, each with a replica that confirms each grant.
func cluster(t testing.TB) *Store {
	c := servers.RedisCluster(t, append([]string{"--cluster-node-timeout", "1000"}, durable...)...)
	url := "redis-cluster://" + strings.Join(addrs(c.Masters...), ",") + "?replicas=1"
	const alike = "it is as with one server, which has it"
	why := ofRedis()
	maps.Copy(why, absent("nodes are told of on the machine itself", Cut, CutLeader, Deaf, Mute))
	maps.Copy(why, absent(alike, Empty, FullMemory, Evicts, ClockForward, ClockBack, Renewed, Expired))
	maps.Copy(why, absent("its end is a failover", KillLeader, PauseLeader, Kill, Pause))
	return &Store{
		Name: "cluster", TTL: 4 * time.Second, Absent: why,
		URL:    func([]string) string { return url },
		Faults: []Fault{clusterFailover(c), slotsMove(c)},
	}
}

// visited are some of the locks that runs of package proof visit: of these slots move, and masters fail.
var visited = []string{"m0", "m9", "r0", "p0"}

func slotOf(t testing.TB, c *servers.ClusterOfRedis, lock string) int {
	return c.SlotOf(t, "holdfast:{"+driver.EncodeName(lock, 0)+"}")
}

// clusterFailover crashes the master that has one of the locks, until its replica has taken its place.
func clusterFailover(c *servers.ClusterOfRedis) Fault {
	turn := 0
	return Fault{Name: Failover, Harm: Outage, Begin: func(t testing.TB) func() {
		slot := slotOf(t, c, visited[turn%len(visited)])
		turn++
		old := c.Owner(t, slot)
		old.Kill(t)
		return func() {
			c.AwaitOwner(t, slot, old)
			old.Restart(t)
			c.AwaitServing(t)
		}
	}}
}

// slotsMove moves the slots of some locks to the next master while they are used.
func slotsMove(c *servers.ClusterOfRedis) Fault {
	return Fault{Name: SlotsMove, Begin: func(t testing.TB) func() {
		masters := c.Leaders(t)
		for _, lock := range visited {
			slot := slotOf(t, c, lock)
			owner := c.Owner(t, slot)
			for i, s := range masters {
				if s == owner {
					c.MoveSlot(t, slot, masters[(i+1)%len(masters)], func() {
						time.Sleep(5 * time.Millisecond) // clients find some of the keys here and some there
					})
					break
				}
			}
		}
		return func() {}
	}}
}
