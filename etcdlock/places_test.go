package etcdlock_test

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// However often a lock was taken, its queue has had few keys: as many as claims were in it at once. Each key that ever
// was stays in the server's index until a compaction, and each request reads past it.
func TestKeysAreUsedAgain(t *testing.T) {
	t.Parallel()
	const atOnce, rounds = 3, 20
	for name, round := range map[string]func(*testing.T, *etcdlock.Driver){
		"claims that wait": func(t *testing.T, d *etcdlock.Driver) {
			held := acquire(t, d, claim("job", long))
			var waiting []driver.Claim
			for range atOnce - 1 {
				waiting = append(waiting, enqueue(t, d, claim("job", long)))
			}
			release(t, d, held)
			for _, c := range waiting {
				mustBeGranted(t, d, c)
				release(t, d, c)
			}
		},
		"claims that would not wait": func(t *testing.T, d *etcdlock.Driver) {
			held := acquire(t, d, claim("job", long))
			tried := claim("job", long)
			tried.Queue = false
			if _, st := request(t, d, tried); st.Granted {
				t.Fatal("two have the lock")
			}
			release(t, d, held)
			release(t, d, acquire(t, d, tried))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := servers.Etcd(t).Addr
			d := open(t, nil, addr)
			for range rounds {
				round(t, d)
			}
			if keys := keysEver(t, addr, "/holdfast/job/"); len(keys) > atOnce {
				t.Errorf("after %d rounds the queue has had %d keys, such as %q", rounds, len(keys), keys[:atOnce])
			}
		})
	}
}

// keysEver are the keys that were ever put and begin with prefix, on a server that was never compacted.
func keysEver(t *testing.T, addr, prefix string) (keys []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(limit(t))
	defer cancel()
	client := dial(t, addr)
	now, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(ctx, prefix, "the end"); err != nil { // which the watch tells last
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for r := range client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(1)) {
		for _, event := range r.Events {
			key := string(event.Kv.Key)
			if event.Kv.ModRevision > now.Header.Revision {
				return keys
			}
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	t.Fatal("the watch ended early")
	return nil
}
