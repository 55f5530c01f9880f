package zklock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/zklock"
)

func ExampleNew() {
	ctx := context.Background()
	d, err := zklock.New([]string{"zk-1:2181", "zk-2:2181", "zk-3:2181"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	locks := holdfast.New(d)
	defer locks.Close(ctx)

	err = locks.Mutex("reports/nightly").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		fmt.Println("token", lease.Token()) // the node's czxid, with room for local hand-offs
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Locking together with programs that use Curator's InterProcessMutex on /jobs/nightly, which may ask us to let go.
func ExampleOptions() {
	ctx := context.Background()
	d, err := zklock.New([]string{"localhost:2181"}, &zklock.Options{Layout: zklock.Curator})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	locks := holdfast.New(d)
	lease, err := locks.Mutex("jobs/nightly").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)
	select {
	case <-lease.Revoked(): // somebody called Revoker.attemptRevoke
	case <-lease.Done():
	}
}
