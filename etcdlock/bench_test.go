package etcdlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// BenchmarkCycle acquires and releases a lock that is free.
func BenchmarkCycle(b *testing.B) {
	for name, addrs := range map[string][]string{
		"one server":    {servers.Etcd(b).Addr},
		"three servers": addrs(servers.EtcdCluster(b, 3)),
	} {
		b.Run(name, func(b *testing.B) {
			d := open(b, nil, addrs...)
			release(b, d, acquire(b, d, claim("warm up", long)))
			for b.Loop() {
				release(b, d, acquire(b, d, claim("job", long)))
			}
		})
	}
}
