package etcdlock_test

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// BenchmarkOneName measures what a cycle on one name costs when it is new, and after 8,000 cycles: of etcd's own mutex,
// and of the driver. Keys that are not used again stay in the server's index until it is compacted, and reading a queue
// passes all of them.
func BenchmarkOneName(b *testing.B) {
	addr := servers.Etcd(b).Addr
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	s, err := concurrency.NewSession(c)
	if err != nil {
		b.Fatal(err)
	}
	d := open(b, nil, addr)
	cycles := map[string]func(b *testing.B){
		"mutex":  func(b *testing.B) { mutexCycle(b, s) },
		"driver": func(b *testing.B) { release(b, d, acquire(b, d, claim("job", long))) },
	}
	for done := 0; done <= 8000; done += 4000 {
		for name, cycle := range cycles {
			b.Run(fmt.Sprintf("%s/after %d cycles", name, done), func(b *testing.B) {
				for b.Loop() {
					cycle(b)
				}
			})
			for range 4000 {
				cycle(b)
			}
		}
	}
}

func mutexCycle(b *testing.B, s *concurrency.Session) {
	m := concurrency.NewMutex(s, "mutex/job")
	if err := m.Lock(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := m.Unlock(context.Background()); err != nil {
		b.Fatal(err)
	}
}
