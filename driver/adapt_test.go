package driver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

func op(kind driver.Kind, id string) driver.Op {
	return driver.Op{Kind: kind, Claim: driver.Claim{
		Name: "m", ID: id, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true,
	}}
}

// results does a batch, and returns its results in order.
func results(t *testing.T, d driver.BatchDriver, ops ...driver.Op) []driver.Result {
	t.Helper()
	rs, answers := make([]driver.Result, len(ops)), make([]int, len(ops))
	var mu sync.Mutex
	d.Do(t.Context(), ops, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		rs[i] = r
		answers[i]++
	})
	for i, n := range answers {
		if n != 1 {
			t.Fatalf("operation %d has %d results", i, n)
		}
	}
	return rs
}

// A driver has the kinds of operations that its abilities are.
func TestAdaptedKinds(t *testing.T) {
	all := driver.Adapt(memlock.New())
	few := driver.Adapt(plain{})
	for kind := driver.OpRequest; kind <= driver.OpLife; kind++ {
		if want := kind != driver.OpLook; all.Traits().Ops.Has(kind) != want {
			t.Errorf("%v: %v, want %v", kind, !want, want)
		}
		basic := kind == driver.OpRequest || kind == driver.OpRelease || kind == driver.OpWatch
		if few.Traits().Ops.Has(kind) != basic {
			t.Errorf("of a driver without abilities, %v: %v, want %v", kind, !basic, basic)
		}
		if basic {
			continue
		}
		if r := results(t, few, op(kind, "a"))[0]; !errors.Is(r.Err, errors.ErrUnsupported) {
			t.Errorf("%v answers %v", kind, r.Err)
		}
	}
	if store := all.Traits().Store; !strings.HasPrefix(store, "mem:") {
		t.Errorf("the store is %q", store)
	}
}

// A renewing driver counts requests, and batches of renewals.
type renewing struct {
	driver.Driver
	requests, batches atomic.Int64
}

func (d *renewing) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	d.requests.Add(1)
	return d.Driver.Request(ctx, c)
}

func (d *renewing) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	d.batches.Add(1)
	return driver.Renew(ctx, d.Driver, claims)
}

// The renewals of a batch are one round trip, where the driver can do that.
func TestAdaptedRenewals(t *testing.T) {
	counts := &renewing{Driver: memlock.New()}
	d := driver.Adapt(counts)
	defer d.Close()
	a, b := op(driver.OpRequest, "a"), op(driver.OpRequest, "b")
	b.Claim.Name = "n"
	for i, r := range results(t, d, a, b) {
		brief := []*driver.Op{&a, &b}[i]
		brief.Claim.Token, brief.Brief = r.Status.Token, true
	}
	gone := op(driver.OpRequest, "gone")
	gone.Claim.Token, gone.Brief = 1, true
	rs := results(t, d, a, gone, op(driver.OpQueue, ""), b)
	if rs[0].Status.Token != a.Claim.Token || rs[3].Status.Token != b.Claim.Token || len(rs[2].Queue) != 1 {
		t.Errorf("the results are %+v", rs)
	}
	if !errors.Is(rs[1].Err, driver.ErrGone) {
		t.Errorf("the claim that never was: %v", rs[1].Err)
	}
	if r, b := counts.requests.Load(), counts.batches.Load(); r != 2 || b != 1 {
		t.Errorf("%d requests and %d batches, want 2 and 1", r, b)
	}
}

// A falling driver panics in every request.
type falling struct{ driver.Driver }

func (falling) Request(context.Context, driver.Claim) (driver.Status, error) { panic("it fell") }

// A panic gets to the caller of Do, once the other operations of the batch have their results.
func TestAdaptedPanics(t *testing.T) {
	d := driver.Adapt(falling{memlock.New()})
	defer d.Close()
	for name, ops := range map[string][]driver.Op{
		"alone":    {op(driver.OpRequest, "a")},
		"together": {op(driver.OpRequest, "a"), op(driver.OpRelease, "b")},
	} {
		var released atomic.Int64
		func() {
			defer func() {
				p := recover()
				if err, ok := p.(error); ok {
					p = err.Error()
				}
				if s, _ := p.(string); !strings.HasPrefix(s, "it fell") {
					t.Errorf("%s: the panic is %v", name, p)
				}
			}()
			d.Do(t.Context(), ops, func(i int, _ driver.Result) { released.Add(1) })
		}()
		if want := int64(len(ops) - 1); released.Load() != want {
			t.Errorf("%s: %d results, want %d", name, released.Load(), want)
		}
	}
}

// A subscriber is told of what happens to claims and queues, until stop is called.
func TestAdaptedEvents(t *testing.T) {
	store := memlock.New()
	d := driver.Adapt(store)
	defer d.Close()
	told := make(chan driver.Event, 100)
	stop := d.Subscribe(func(e driver.Event) { told <- e })
	holder, next := op(driver.OpRequest, "holder"), op(driver.OpRequest, "next")
	holder.Follow = true
	results(t, d, holder)
	results(t, d, next)
	results(t, d, op(driver.OpRevoke, "holder"))
	if e := <-told; e.ID != "holder" || e.Err != nil {
		t.Errorf("after a revocation: %+v", e)
	}
	results(t, d, op(driver.OpWatch, ""), op(driver.OpRelease, "holder"))
	var granted, changed bool
	for i := 0; !granted || !changed; i++ {
		select {
		case e := <-told:
			granted = granted || e.ID == "next" && e.Status.Granted
			changed = changed || e == driver.Event{Name: "m"}
		default: // the driver may only now begin to watch
			id := fmt.Sprint("more", i)
			results(t, d, op(driver.OpRequest, id))
			results(t, d, op(driver.OpRelease, id))
		}
	}
	stop()
	results(t, d, op(driver.OpRelease, "next"))
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for range len(told) {
		if e := <-told; e.ID == "next" && !e.Status.Granted {
			t.Errorf("told after stop: %+v", e)
		}
	}
}

// Close ends what waits, so that nothing of a driver is left.
func TestAdaptedClose(t *testing.T) {
	store := memlock.New()
	d := driver.Adapt(store)
	results(t, d, op(driver.OpRequest, "holder"), op(driver.OpWatch, ""))
	results(t, d, op(driver.OpRequest, "next"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if r := results(t, d, op(driver.OpWatch, ""))[0]; !errors.Is(r.Err, driver.ErrClosed) {
		t.Errorf("watching after Close: %v", r.Err)
	}
}
