package kubelock_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/kubelock"
)

// A program that is moving from a Lease of Kubernetes to kubelock holds both. It comes between the programs that have
// the Lease alone and those that have kubelock alone.
func ExampleRun() {
	var (
		cluster  kubernetes.Interface // of kubernetes.NewForConfig
		client   *holdfast.Client     // of holdfast.Open
		host, _  = os.Hostname()
		identity = host + "_" + string(uuid.NewUUID()) // containers may share a host name
	)
	//lint:ignore SA1019 client-go has no use for it any more, and we have
	lock := &resourcelock.MultiLock{
		Primary: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "controller"},
			Client:     cluster.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		Secondary: kubelock.New(client, "controller", identity),
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := kubelock.Run(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				<-ctx.Done() // the work; it returns only when all of it has stopped
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
}
