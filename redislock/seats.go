package redislock

import (
	"context"
	"sync"
)

// seats bound, in a cluster, how many calls have a connection for themselves at each node while they wait for
// replicas. Requests and renewals have seats of their own, so that many requests keep no lease from being renewed.
type seats struct {
	mu sync.Mutex
	at map[seat]chan struct{} // has an element for each call; those of nodes that are gone stay, which are few
}

// clusterConns is how many seats there are at a node, for requests and for renewals. Both together are fewer than the
// connections to a node, which subscriptions need as well.
const clusterConns = poolSize/2 - 1

type seat struct {
	node     string
	renewals bool
}

// enter waits for a seat.
func (p *seats) enter(ctx context.Context, node string, renewals bool) (leave func(), err error) {
	taken := p.of(seat{node, renewals})
	select {
	case taken <- struct{}{}:
		return func() { <-taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *seats) of(at seat) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = make(map[seat]chan struct{})
	}
	if p.at[at] == nil {
		p.at[at] = make(chan struct{}, clusterConns)
	}
	return p.at[at]
}
