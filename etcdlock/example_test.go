package etcdlock_test

import (
	"context"
	"fmt"
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/etcdlock"
)

func ExampleNew() {
	ctx := context.Background()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"etcd-1:2379", "etcd-2:2379", "etcd-3:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer etcd.Close()

	d, err := etcdlock.New(etcd, nil)
	if err != nil {
		log.Fatal(err)
	}
	locks := holdfast.New(d)
	defer locks.Close(ctx)

	err = locks.Mutex("reports/nightly").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		fmt.Println("token", lease.Token()) // the key's create revision, with room for local hand-offs
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Locking together with programs that use etcd's own concurrency.Mutex, or with etcdctl lock.
func ExampleOptions() {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	d, err := etcdlock.New(etcd, &etcdlock.Options{Layout: etcdlock.Concurrency})
	if err != nil {
		log.Fatal(err)
	}
	locks := holdfast.New(d)
	lease, err := locks.Mutex("jobs/nightly").Lock(context.Background()) // etcdctl lock jobs/nightly waits for it
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(context.Background())
}
