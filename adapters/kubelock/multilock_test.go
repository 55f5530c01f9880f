package kubelock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/holdfast-go/holdfast/adapters/kubelock"
	"github.com/holdfast-go/holdfast/memlock"
)

// Programs move from a Lease of Kubernetes to kubelock in two steps: first all get a MultiLock with both, and then
// kubelock alone. Those in between see the leaders before and after, and are seen by them.
func TestMultiLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, store := fake.NewClientset(), memlock.New()
		lease := func(identity string) resourcelock.Interface {
			return &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "controller", Namespace: "default"},
				Client:     cluster.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			}
		}
		both := func(identity string) resourcelock.Interface {
			//lint:ignore SA1019 client-go has no use for it any more, and programs that move have
			return &resourcelock.MultiLock{Primary: lease(identity), Secondary: newLock(t, store, identity)}
		}
		var s site
		before := s.join(t, lease("before"))
		before.mustLead(t, "the first to come")
		between := s.join(t, both("between"))
		between.mustNotLead(t, "the one with both, beside one with the Lease alone")
		before.leave()
		between.mustLead(t, "the one with both, once the one with the Lease has left")

		old := s.join(t, lease("old"))
		old.mustNotLead(t, "another one with the Lease alone, beside the one with both")
		old.leave()
		after := s.join(t, newLock(t, store, "after"))
		after.mustNotLead(t, "the one with kubelock alone, beside the one with both")
		second := s.join(t, both("second"))
		second.mustNotLead(t, "a second one with both")
		between.leave()
		second.leave()
		after.mustLead(t, "the one with kubelock alone, once nobody else is there")
		late := s.join(t, both("late"))
		late.mustNotLead(t, "one with both that comes late")
		late.leave()
		after.leave()
		if most := s.most.Load(); most != 1 {
			t.Errorf("%d worked at once", most)
		}
	})
}

// A member is a candidate of a site.
type member struct {
	works func() bool
	leave func()
}

// join has one more candidate run, with the work of its own.
func (s *site) join(t *testing.T, lock resourcelock.Interface) member {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var own site
	config := s.elect(lock, time.Second)
	work := config.Callbacks.OnStartedLeading
	config.Callbacks.OnStartedLeading = func(ctx context.Context) {
		own.working.Add(1)
		defer own.working.Add(-1)
		work(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- kubelock.Run(ctx, config) }()
	return member{
		works: func() bool { return own.working.Load() > 0 },
		leave: func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		},
	}
}

// settled is when an election has ended: a candidate may wait for a LeaseDuration after a change.
const settled = time.Minute

func (m member) mustLead(t *testing.T, who string) {
	t.Helper()
	time.Sleep(settled)
	if !m.works() {
		t.Errorf("%s does not lead", who)
	}
}

func (m member) mustNotLead(t *testing.T, who string) {
	t.Helper()
	time.Sleep(settled)
	if m.works() {
		t.Errorf("%s leads", who)
	}
}
