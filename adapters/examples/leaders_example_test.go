package examples

import (
	"context"
	"fmt"
	"log"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/holdfast-go/holdfast/adapters/kubelock"
)

// A controller elects its leader on etcd, without the Kubernetes API.
func Example_clientGo() {
	client := open("etcd://" + etcd.Addr)
	defer client.Close(context.Background())
	ctx, resign := context.WithCancel(context.Background()) // signal.NotifyContext in a program
	lock := kubelock.New(client, "controller", "pod-1")
	err := kubelock.Run(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				lease, leads := lock.Lease()
				fmt.Println(lock.Identity(), "leads:", leads, lease.Token() > 0)
				resign()
				<-ctx.Done()
				_, leads = lock.Lease()
				fmt.Println(lock.Identity(), "leads while its work ends:", leads)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, leads := lock.Lease()
	fmt.Println(lock.Identity(), "leads:", leads)
	// Output:
	// pod-1 leads: true true
	// pod-1 leads while its work ends: true
	// pod-1 leads: false
}
