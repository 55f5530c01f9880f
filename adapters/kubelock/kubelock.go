// Package kubelock lets programs that elect a leader with client-go do so on any backend, without the Kubernetes API.
//
//	lock := kubelock.New(client, "controller", hostname)
//	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true, ...})
//
// client-go itself learns of a lost lock when it fails to renew it for its RenewDeadline. The lease that [Lock.Lease]
// returns knows at once, and has the fencing token.
package kubelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/holdfast-go/holdfast"
)

// A Lock is one candidate. It implements [resourcelock.Interface]; each candidate needs one of its own, for one
// LeaderElector at a time.
//
// The elector takes two LeaseDurations to notice, in the worst case, that it cannot renew its lease. So that nobody
// else leads before that, the TTL is twice the LeaseDuration, unless [holdfast.WithTTL] says otherwise; the lead of a
// process that died is free after it.
type Lock struct {
	client   *holdfast.Client
	name     string
	identity string
	options  []holdfast.Option

	mu     sync.Mutex
	lease  *holdfast.Lease // nil while we do not lead
	record resourcelock.LeaderElectionRecord
}

// New returns the lock of a candidate with this identity, in the election with this name. Others see the identity as
// its value: [holdfast.Election.Leader] and the command's leader tell it.
func New(client *holdfast.Client, name, identity string, opts ...holdfast.Option) *Lock {
	return &Lock{client: client, name: name, identity: identity, options: opts}
}

// Lease returns the lease of the lead; ok is false while this candidate does not lead. It may be over: its Err tells.
func (l *Lock) Lease() (lease *holdfast.Lease, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease, l.lease != nil
}

// Get returns who leads, by the backend's queue. A record changes for as long as its leader lives. The error is
// NotFound when nobody leads, and another when the lead was lost that the elector does not know to be over yet.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if lease, leads := l.Lease(); leads {
		if err := lease.Err(); err != nil {
			return nil, nil, err
		}
		return marshal(l.current())
	}
	leader, err := l.election(0).Leader(ctx)
	switch {
	case errors.Is(err, holdfast.ErrNoLeader):
		return nil, nil, apierrors.NewNotFound(resource, l.name)
	case err != nil:
		return nil, nil, err
	}
	return marshal(l.of(leader))
}

// of is the record of another's lead.
func (l *Lock) of(leader holdfast.Entry) resourcelock.LeaderElectionRecord {
	holder := leader.Value
	if holder == "" || holder == l.identity {
		holder = leader.Owner + " " + leader.Value // nobody is us but us: this is how we were called before
	}
	return resourcelock.LeaderElectionRecord{
		HolderIdentity:       holder,
		LeaseDurationSeconds: int(math.Ceil(leader.TTL.Seconds())),
		AcquireTime:          metav1.NewTime(leader.Since),
		RenewTime:            metav1.Now(),
	}
}

// Create leads, if nobody does; otherwise the error is a Conflict.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if _, leads := l.Lease(); leads {
		return l.Update(ctx, record)
	}
	lease, err := l.election(record.LeaseDurationSeconds).TryCampaign(ctx, l.identity)
	switch {
	case errors.Is(err, holdfast.ErrNotAcquired):
		return apierrors.NewConflict(resource, l.name, err)
	case err != nil:
		return err
	}
	l.set(lease, record)
	return nil
}

// Update renews the lead, or gives it back where the record names no holder. A lead that was lost is not taken again
// under the same elector, which would take the time between for its own.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	lease, leads := l.Lease()
	switch {
	case !leads && record.HolderIdentity == "":
		return nil
	case !leads:
		return l.Create(ctx, record)
	case record.HolderIdentity == "":
		l.set(nil, record)
		return lease.Release(ctx)
	}
	if err := lease.Check(ctx); err != nil {
		return err
	}
	l.set(lease, record)
	return nil
}

// RecordEvent learns from the elector that it has stopped. What is then still held lives on for its TTL, as the
// record of a Kubernetes lease does, since the work may not be at its end yet: see ReleaseOnCancel.
func (l *Lock) RecordEvent(event string) {
	lease, leads := l.Lease()
	if event != "stopped leading" || !leads {
		return
	}
	l.set(nil, resourcelock.LeaderElectionRecord{})
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	left := time.Until(lease.ValidUntil())
	if _, err := lease.Detach(ctx); err != nil { // also where the backend cannot
		time.AfterFunc(left, func() { lease.Release(context.Background()) })
	}
}

// leaveTime bounds how long the end of an elector waits for the backend.
const leaveTime = 5 * time.Second

// Identity implements [resourcelock.Interface].
func (l *Lock) Identity() string { return l.identity }

// Describe implements [resourcelock.Interface].
func (l *Lock) Describe() string { return fmt.Sprintf("holdfast election %q", l.name) }

// election describes the election; its candidates outlast an elector with this LeaseDuration.
func (l *Lock) election(seconds int) *holdfast.Election {
	var opts []holdfast.Option
	if seconds > 0 {
		opts = append(opts, holdfast.WithTTL(2*time.Duration(seconds)*time.Second))
	}
	return l.client.Election(l.name, append(opts, l.options...)...)
}

func (l *Lock) set(lease *holdfast.Lease, record resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease, l.record = lease, record
}

func (l *Lock) current() resourcelock.LeaderElectionRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.record
}

func marshal(r resourcelock.LeaderElectionRecord) (*resourcelock.LeaderElectionRecord, []byte, error) {
	text, err := json.Marshal(r)
	return &r, text, err
}

// resource is what errors of the API are about.
var resource = schema.GroupResource{Group: "holdfast", Resource: "elections"}

var _ resourcelock.Interface = (*Lock)(nil)
