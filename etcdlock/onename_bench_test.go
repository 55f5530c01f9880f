package etcdlock_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// BenchmarkOneName measures what a cycle on one name costs when it is new, and after 8,000 cycles: of etcd's own mutex,
// of the driver, and of the transactions of docs/design-notes/keys-of-etcd.md. Keys that are not used again stay in the
// server's index until it is compacted, and reading a queue passes all of them.
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
	d, keys := open(b, nil, addr), reusedKeys{c, grant(b, c), grant(b, c)}
	cycles := map[string]func(b *testing.B){
		"mutex":    func(b *testing.B) { mutexCycle(b, s) },
		"driver":   func(b *testing.B) { release(b, d, acquire(b, d, claim("job", long))) },
		"designed": keys.cycle,
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

func grant(b *testing.B, c *clientv3.Client) clientv3.LeaseID {
	l, err := c.Grant(b.Context(), 3600)
	if err != nil {
		b.Fatal(err)
	}
	return l.ID
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

// reusedKeys are the transactions of a claim that nobody contends for, at a key that is used again.
type reusedKeys struct {
	c            *clientv3.Client
	lease, notes clientv3.LeaseID
}

func (k reusedKeys) cycle(b *testing.B) {
	const queue = "reused/job/"
	const record = `{"v":1,"owner":"host 4711","weight":1,"limit":1,"ttl":60000,"since":1790000000000}`
	key, id := queue+"0", "reused/.ids/job/"+rand.Text()
	absent := func(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), "=", 0) }
	put := []clientv3.Op{
		clientv3.OpPut(key, record, clientv3.WithLease(k.lease)), clientv3.OpPut(id, key, clientv3.WithLease(k.lease)),
		clientv3.OpGet(queue, clientv3.WithPrefix(), clientv3.WithLimit(2),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend)),
	}
	r, err := k.c.Txn(b.Context()).If(absent(id), absent(key)).Then(put...).Commit()
	if err != nil || !r.Succeeded {
		b.Fatal(r, err)
	}
	end := clientv3.OpPut(id, `{"v":1,"released":true,"token":123456}`, clientv3.WithLease(k.notes))
	mine := clientv3.Compare(clientv3.CreateRevision(key), "=", r.Header.Revision)
	r, err = k.c.Txn(b.Context()).If(mine).Then(clientv3.OpDelete(key), end).Commit()
	if err != nil || !r.Succeeded {
		b.Fatal(r, err)
	}
}
