package redislock

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// Renew requests many claims in one round trip, as [driver.Renewer] says.
func (d *native) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	switch {
	case d.conn.Cluster():
		return d.renewByNode(ctx, claims), nil
	case d.opts.Replicas > 0:
		return d.renewConfirmed(ctx, claims)
	default:
		return d.renew(ctx, d.conn.DoMany, claims)
	}
}

func (d *native) renew(ctx context.Context, send sender, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	cmds := make([]Command, 0, len(claims))
	at := make([]int, 0, len(claims))
	for i, c := range claims {
		k, err := d.begin(ctx, c)
		if err != nil {
			results[i].Err = err
			continue
		}
		d.notifier.extend(c, false)
		cmds = append(cmds, Command{Head: d.scripts.renew.head, Keys: k.all(), Tail: d.requestArgs(c)})
		at = append(at, i)
	}
	if len(cmds) == 0 {
		return results, ctx.Err()
	}
	for i, r := range d.scripts.renew.runMany(ctx, send, cmds) {
		result := &results[at[i]]
		if result.Err = r.Err; r.Err == nil {
			values, _ := cutMore(r.Values) // one that waits is told to ask again, by Status.Retry
			result.Status, result.Err = d.answered(claims[at[i]], values)
		}
	}
	return results, nil
}

// renewConfirmed is Renew where replicas must have the claims.
func (d *native) renewConfirmed(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	confirm := newConfirmation(d.renewals, d.opts.Replicas)
	results, err := d.renew(ctx, confirm.send, claims)
	if short := confirm.short(); short != nil {
		for i := range results {
			if results[i].Err == nil && results[i].Status.Granted {
				results[i] = driver.Result{Err: short}
			}
		}
	}
	return results, err
}

// renewByNode is Renew in a cluster: the claims of each node are renewed by themselves, so that none waits for a node
// that hangs. A panic goes up to the caller.
func (d *native) renewByNode(ctx context.Context, claims []driver.Claim) []driver.Result {
	byNode := make(map[string][]int)
	for i, c := range claims {
		node := ""
		if k, err := d.keys.of(c.Name); err == nil { // else the request says what is wrong
			node = nodeOf(d.conn, k.lock)
		}
		byNode[node] = append(byNode[node], i)
	}
	results := make([]driver.Result, len(claims))
	panics := make(chan any, len(byNode))
	var all sync.WaitGroup
	for _, at := range byNode {
		all.Go(func() {
			defer func() {
				if caught := recover(); caught != nil {
					panics <- caught
				}
			}()
			some := make([]driver.Claim, len(at))
			for k, i := range at {
				some[k] = claims[i]
			}
			for k, r := range d.renewOn(ctx, some) {
				results[at[k]] = r
			}
		})
	}
	all.Wait()
	select {
	case caught := <-panics:
		panic(caught)
	default:
		return results
	}
}

// renewOn renews claims of one node of a cluster, as far as is known. Each server counts its own replicas, so where
// these must have the claims, each goes alone.
func (d *native) renewOn(ctx context.Context, claims []driver.Claim) []driver.Result {
	if d.opts.Replicas == 0 {
		results, _ := d.renew(ctx, d.conn.DoMany, claims) // each has its own error
		return results
	}
	results, _ := driver.Renew(ctx, bare{d}, claims) // likewise
	return results
}

// bare is the driver without its abilities.
type bare struct{ driver.Driver }
