package quorum_test

import (
	"context"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/quorum"
)

// A client has the methods of a driver over a quorum, without a Sender: tests have operations on one claim meet.
type client struct {
	*quorum.Driver
	mu   sync.Mutex
	mail map[string]chan driver.Event // the newest, by the ID of the claim
}

func quorumOf(t testing.TB, nodes []driver.Driver, opts *quorum.Options) *client {
	t.Helper()
	d, err := quorum.New(nodes, opts)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Driver: d, mail: make(map[string]chan driver.Event)}
	t.Cleanup(func() { d.Close() })
	t.Cleanup(d.Subscribe(c.keep))
	return c
}

// keep keeps an event in place of the one before.
func (d *client) keep(e driver.Event) {
	mail := d.mailOf(e.ID)
	for {
		select {
		case mail <- e:
			return
		default:
			d.forget(e.ID)
		}
	}
}

// forget forgets what was told of a claim. It reports whether that was anything.
func (d *client) forget(id string) bool {
	select {
	case <-d.mailOf(id):
		return true
	default:
		return false
	}
}

// mailOf is where events about a claim are kept until Wait collects them.
func (d *client) mailOf(id string) chan driver.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.mail[id]; !known {
		d.mail[id] = make(chan driver.Event, 1)
	}
	return d.mail[id]
}

func (d *client) op(ctx context.Context, op driver.Op) (r driver.Result) {
	d.Do(ctx, []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

func (d *client) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	r := d.op(ctx, driver.Op{Kind: driver.OpRequest, Claim: c})
	return r.Status, r.Err
}

// Renew is what the core does to keep claims alive.
func (d *client) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	results, ops := make([]driver.Result, len(claims)), make([]driver.Op, len(claims))
	for i, c := range claims {
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true}
	}
	d.Do(ctx, ops, func(i int, r driver.Result) { results[i] = r })
	return results, nil
}

func (d *client) Release(ctx context.Context, c driver.Claim) error {
	return d.op(ctx, driver.Op{Kind: driver.OpRelease, Claim: c}).Err
}

func (d *client) Break(ctx context.Context, name, id string) error {
	return d.op(ctx, driver.Op{Kind: driver.OpBreak, Claim: driver.Claim{Name: name, ID: id}}).Err
}

func (d *client) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	r := d.op(ctx, driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}})
	return r.Queue, r.Err
}

// Wait returns when an event about the claim has been told since it returned last.
func (d *client) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	select {
	case e := <-d.mailOf(c.ID):
		return e.Status, e.Err
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}
