package etcdlock

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// queue returns the live claims on a lock, as [driver.OpQueue] says. Since is by the clock of the client that made
// the claim, because etcd records no time; of a peer's it is not known.
func (d *Driver) queue(ctx context.Context, name string, _ int) ([]driver.Entry, error) {
	queue := d.keys.queue(name)
	answer, err := d.get(ctx, oldestFirst(queue))
	if err != nil {
		return nil, explain(err)
	}
	seats, err := d.seats(queue, answer.Kvs)
	if err != nil {
		return nil, err
	}
	left, err := d.timesLeft(ctx, seats)
	if err != nil {
		return nil, err
	}
	return entries(name, seats, left), nil
}

// entries judges claims, oldest first.
func entries(name string, seats []seat, left map[clientv3.LeaseID]time.Duration) []driver.Entry {
	list := make([]driver.Entry, len(seats))
	b := leased.NoBounds()
	for i, s := range seats {
		b = b.Add(s.seat())
		list[i] = driver.Entry{
			Claim: driver.Claim{
				Name: name, ID: s.ID, Weight: s.Weight, Limit: s.Limit, TTL: s.ttl(), Queue: true,
				Owner: string(s.Owner), Value: string(s.Value), Token: s.token,
			},
			Granted: b.Fit(), // once it is not, it never is again
			Since:   s.since(),
			Left:    s.left(left[s.lease]),
		}
	}
	return list
}

// since is when the claim was queued; zero where its client has not written that down.
func (s seat) since() time.Time {
	if s.peer {
		return time.Time{}
	}
	return time.UnixMilli(s.Since)
}

// left is what is left of a claim on a lease that lives for so long. The lease lives a little longer.
func (s seat) left(lease time.Duration) time.Duration {
	if s.peer {
		return max(lease, 1)
	}
	return max(min(lease, s.ttl()), 1)
}

// timesLeft asks how long the leases of these claims live. etcd answers in whole seconds.
func (d *Driver) timesLeft(ctx context.Context, seats []seat) (map[clientv3.LeaseID]time.Duration, error) {
	var (
		mu    sync.Mutex
		left  = make(map[clientv3.LeaseID]time.Duration)
		fault error
	)
	leases := leasesOf(seats)
	each(len(leases), func(i int) {
		answer, err := d.timeToLive(ctx, leases[i])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			fault = explain(err)
		} else {
			left[leases[i]] = time.Duration(answer.TTL) * time.Second
		}
	})
	return left, fault
}

func (d *Driver) timeToLive(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseTimeToLiveResponse, error) {
	answer, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*clientv3.LeaseTimeToLiveResponse, error) {
		return m.lease.TimeToLive(ctx, id)
	})
	return answer, err
}

func leasesOf(seats []seat) []clientv3.LeaseID {
	var leases []clientv3.LeaseID
	for _, s := range seats {
		leases = append(leases, s.lease)
	}
	slices.Sort(leases)
	return slices.Compact(leases)
}
