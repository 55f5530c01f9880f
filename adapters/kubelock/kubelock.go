// Package kubelock lets programs that elect a leader with client-go do so on any backend, without the Kubernetes API.
//
//	lock := kubelock.New(client, "controller", hostname+"_"+uuid)
//	err := kubelock.Run(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ...})
//
// [Run] gives the lead back when the work has ended. leaderelection.RunOrDie with ReleaseOnCancel does not: it gives
// the lead back as soon as its context ends, while OnStartedLeading has only just been told, so for as long as the work
// takes to stop another leader works beside it. With RunOrDie leave ReleaseOnCancel out, which costs the next leader
// the TTL, or cancel the context only once the work has stopped.
//
// Each candidate needs an identity of its own. A host name is not enough: containers may share one.
//
// client-go itself notices a lost lock once it has failed to renew it for its RenewDeadline. The lease that
// [Lock.Lease] returns knows at once, and has the fencing token.
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
// In the worst case the elector takes two LeaseDurations to notice that it cannot renew its lease. Nobody else may lead
// before that, so the TTL is twice the LeaseDuration, unless [holdfast.WithTTL] says otherwise. If a process dies, its
// lead is free after that time. client-go tells a lock the LeaseDuration in whole seconds, rounded down: if yours is
// none, give WithTTL twice of it.
type Lock struct {
	client   *holdfast.Client
	name     string
	identity string
	options  []holdfast.Option

	mu     sync.Mutex
	lease  *holdfast.Lease // nil while we do not lead
	record resourcelock.LeaderElectionRecord
	silent bool // the last renewal failed
}

// New returns the lock of a candidate with this identity, in the election with this name. Others see the identity as
// its value, for example by [holdfast.Election.Leader] and holdfast leader.
func New(client *holdfast.Client, name, identity string, opts ...holdfast.Option) *Lock {
	return &Lock{client: client, name: name, identity: identity, options: opts}
}

// Lease returns the lease of the lead; ok is false while this candidate does not lead. The lease may have ended: see
// its Err.
func (l *Lock) Lease() (lease *holdfast.Lease, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease, l.lease != nil
}

// Get returns who leads, by the backend's queue. A record changes for as long as its leader lives. The error is
// NotFound if nobody leads, and another one if this candidate has lost the lead and its elector does not know that yet.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if lease, leads := l.Lease(); leads {
		if err := lease.Err(); err != nil {
			return nil, nil, err
		}
		return marshal(l.current())
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime) // that of a candidate has no end
	defer cancel()
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

// Create takes the lead if nobody has it; otherwise the error is a Conflict.
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

// Update renews the lead, or releases it if the record names no holder. It does not take a lost lead again for the same
// elector, which would believe that it led all the time. Nor does it release a lead that could not be renewed: the
// elector gives up for that reason, and tells its work only afterwards. Such a lead ends with its TTL.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	lease, leads := l.Lease()
	switch {
	case !leads && record.HolderIdentity == "":
		return nil
	case !leads:
		return l.Create(ctx, record)
	case record.HolderIdentity == "" && l.isSilent():
		return errors.New("kubelock: the lead could not be renewed; it ends with its TTL")
	case record.HolderIdentity == "":
		l.set(nil, record)
		return lease.Release(ctx)
	}
	asking, cancel := context.WithTimeout(ctx, attemptTime(record))
	defer cancel()
	if err := lease.Check(asking); err != nil {
		l.fail(ctx)
		return err
	}
	l.set(lease, record)
	return nil
}

// RecordEvent is how the elector says that it has stopped. A lead that is still held then lives on for its TTL, as the
// record of a Kubernetes lease does, because the work may not have ended yet: see ReleaseOnCancel.
func (l *Lock) RecordEvent(event string) {
	lease, leads := l.Lease()
	if event != "stopped leading" || !leads {
		return
	}
	l.set(nil, resourcelock.LeaderElectionRecord{})
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	left := time.Until(lease.ValidUntil())
	if _, err := lease.Detach(ctx); err != nil { // also where the backend cannot
		time.AfterFunc(left, func() { lease.Release(context.Background()) })
	}
}

// answerTime bounds how long a candidate, and the end of an elector, wait for an answer of the backend.
const answerTime = 5 * time.Second

// attemptTime bounds how long a renewal waits for an answer, so that one that is lost does not cost the lead: an
// elector asks again until its RenewDeadline, which is shorter than its LeaseDuration.
func attemptTime(record resourcelock.LeaderElectionRecord) time.Duration {
	const attempts = 3
	return min(answerTime, time.Duration(max(1, record.LeaseDurationSeconds))*time.Second/attempts)
}

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
	l.lease, l.record, l.silent = lease, record, false
}

// fail notes that a renewal failed, unless the elector was told to stop meanwhile: its work has ended then.
func (l *Lock) fail(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = !errors.Is(ctx.Err(), context.Canceled)
}

func (l *Lock) isSilent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.silent
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
