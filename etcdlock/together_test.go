package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// doAll does a batch, and returns its results.
func doAll(ctx context.Context, d *Driver, batch []driver.Op) []driver.Result {
	results := make([]driver.Result, len(batch))
	d.Do(ctx, batch, func(i int, r driver.Result) { results[i] = r })
	return results
}

// batchOf is an operation for each of some locks.
func batchOf(kind driver.Kind, n int, ttl time.Duration) (batch []driver.Op) {
	for i := range n {
		batch = append(batch, driver.Op{Kind: kind, Claim: driver.Claim{
			Name: fmt.Sprint("job", i), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: ttl, Queue: true,
		}})
	}
	return batch
}

// lend is a driver that has its lease, so that its first requests go together.
func lend(t *testing.T, ttl time.Duration) *Driver {
	d := alone(t)
	hold(t, d, 1, ttl)
	return d
}

// Locks that are acquired and released together take a transaction for each fifty of them.
func TestTogether(t *testing.T) {
	t.Parallel()
	const n, ttl = 60, 20 * time.Second
	d := lend(t, ttl)
	batch := batchOf(driver.OpRequest, n, ttl)
	revision := func() int64 {
		now, err := d.client.Get(t.Context(), "nothing")
		if err != nil {
			t.Fatal(err)
		}
		return now.Header.Revision
	}
	before := revision()
	for i, r := range doAll(t.Context(), d, batch) {
		if r.Err != nil || !r.Status.Granted {
			t.Fatalf("request %d: %+v", i, r)
		}
		batch[i].Kind, batch[i].Claim.Token = driver.OpRelease, r.Status.Token
	}
	if changes := revision() - before; changes != 2 {
		t.Errorf("%d requests were %d changes of the store, want 2", n, changes)
	}
	before = revision()
	for i, r := range doAll(t.Context(), d, batch) {
		if r.Err != nil {
			t.Fatalf("release %d: %v", i, r.Err)
		}
	}
	if changes := revision() - before; changes != 2 {
		t.Errorf("%d releases were %d changes of the store, want 2", n, changes)
	}
	for i := range batch {
		if queue, err := d.Queue(t.Context(), batch[i].Claim.Name); err != nil || len(queue) > 0 {
			t.Errorf("in the queue of %s is %+v, %v", batch[i].Claim.Name, queue, err)
		}
		batch[i].Kind, batch[i].Claim.Token = driver.OpRequest, 0
	}
	for i, r := range doAll(t.Context(), d, batch) {
		if !errors.Is(r.Err, driver.ErrGone) {
			t.Errorf("late copy %d of a request: %+v", i, r)
		}
	}
}

// Two claims on one lock that are requested together have a token each.
func TestOneLockTwiceTogether(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second
	d := lend(t, ttl)
	batch := batchOf(driver.OpRequest, 4, ttl)
	batch[1].Claim.Name, batch[3].Claim.Name = batch[0].Claim.Name, batch[2].Claim.Name
	results := doAll(t.Context(), d, batch)
	for i := 0; i < len(batch); i += 2 {
		a, b := results[i], results[i+1]
		if a.Err != nil || b.Err != nil || a.Status.Token == b.Status.Token || a.Status.Granted == b.Status.Granted {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
}

// Where one of some operations cannot be done, the others are.
func TestOneOfSomeTogether(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second
	for name, spoil := range map[string]func(*testing.T, *Driver, *driver.Op){
		"a request of a claim that has ended": func(t *testing.T, d *Driver, op *driver.Op) {
			if err := d.Release(t.Context(), op.Claim); !errors.Is(err, driver.ErrGone) {
				t.Fatal(err)
			}
		},
		"a release of a claim that was broken": func(t *testing.T, d *Driver, op *driver.Op) {
			st, err := d.Request(t.Context(), op.Claim)
			if err == nil {
				err = d.Break(t.Context(), op.Claim.Name, op.Claim.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			op.Kind, op.Claim.Token = driver.OpRelease, st.Token
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := lend(t, ttl)
			batch := batchOf(driver.OpRequest, 3, ttl)
			spoil(t, d, &batch[1])
			for i, r := range doAll(t.Context(), d, batch) {
				switch {
				case i == 1 && !errors.Is(r.Err, driver.ErrGone):
					t.Errorf("%+v, want ErrGone", r)
				case i != 1 && (r.Err != nil || !r.Status.Granted):
					t.Errorf("beside it: %+v", r)
				}
			}
		})
	}
}
