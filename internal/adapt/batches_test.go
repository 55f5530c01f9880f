package adapt_test

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
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/adapt"
	"github.com/holdfast-go/holdfast/memlock"
)

func op(kind driver.Kind, id string) driver.Op {
	return driver.Op{Kind: kind, Claim: driver.Claim{
		Name: "m", ID: id, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true,
	}}
}

// results does a batch, and returns its results in order.
func results(t *testing.T, d driver.Driver, ops ...driver.Op) []driver.Result {
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

// engine returns an engine in memory that has methods.
func engine() *drivertest.Facade { return drivertest.NewFacade(memlock.New()) }

// An adapted driver is an engine with its batches.
type adapted struct {
	adapt.Methods
	*adapt.Batches
}

func (d adapted) Traits() driver.Traits {
	t := d.Methods.Traits()
	t.Ops = adapt.Kinds
	return t
}

func (d adapted) Close() error {
	d.Batches.Close()
	return nil
}

func adaptedTo(m adapt.Methods) driver.Driver { return adapted{m, adapt.New(m)} }

// The whole contract holds for an engine behind its Batches, however they gather.
func TestDriver(t *testing.T) {
	for name, alone := range map[string]int{"alone": 0, "gathered": 1} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				store := memlock.New()
				return func(t testing.TB) driver.Driver {
					d := drivertest.Gather(adaptedTo(drivertest.NewFacade(store.Client())), alone, alone)
					t.Cleanup(func() { d.Close() })
					return d
				}
			}})
		})
	}
}

// An operation that is not one of the kinds gets an error that names the engine.
func TestOtherKinds(t *testing.T) {
	d := adaptedTo(engine())
	for kind := driver.OpRequest; kind <= driver.OpLife; kind++ {
		r := results(t, d, op(kind, "a"))[0]
		if able := !errors.Is(r.Err, errors.ErrUnsupported); able != adapt.Kinds.Has(kind) {
			t.Errorf("%v: %v", kind, r.Err)
		}
	}
	if err := results(t, d, op(driver.OpLife, ""))[0].Err; !strings.HasPrefix(fmt.Sprint(err), "mem: life: ") {
		t.Error(err)
	}
}

// The head of a queue is read, whether the engine can do that or has to read all of it.
func TestHeadOfAQueue(t *testing.T) {
	whole := struct{ adapt.Methods }{engine()} // it cannot Peek
	for what, e := range map[string]adapt.Methods{"whole": whole, "head": engine()} {
		d := adaptedTo(e)
		for _, id := range []string{"a", "b", "c"} {
			results(t, d, op(driver.OpRequest, id))
		}
		for most, want := range []int{3, 1, 2, 3, 3} {
			o := op(driver.OpQueue, "")
			o.Most = most
			if got := results(t, d, o)[0].Queue; len(got) != want || got[0].ID != "a" {
				t.Errorf("%s: the first %d are %+v", what, most, got)
			}
		}
	}
}

// A renewing driver counts requests, and batches of renewals.
type renewing struct {
	adapt.Methods
	requests, batches atomic.Int64
}

func (d *renewing) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	d.requests.Add(1)
	return d.Methods.Request(ctx, c)
}

func (d *renewing) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	d.batches.Add(1)
	return d.Methods.Renew(ctx, claims)
}

// The renewals of a batch are one round trip, as the engine can do that.
func TestRenewals(t *testing.T) {
	counts := &renewing{Methods: engine()}
	d := adaptedTo(counts)
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
type falling struct{ adapt.Methods }

func (falling) Request(context.Context, driver.Claim) (driver.Status, error) { panic("it fell") }

// A panic gets to the caller of Do, once the other operations of the batch have their results.
func TestPanics(t *testing.T) {
	d := adaptedTo(falling{engine()})
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
func TestEvents(t *testing.T) {
	d := adaptedTo(engine())
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
func TestClose(t *testing.T) {
	d := adaptedTo(engine())
	results(t, d, op(driver.OpRequest, "holder"), op(driver.OpWatch, ""))
	results(t, d, op(driver.OpRequest, "next"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if r := results(t, d, op(driver.OpWatch, ""))[0]; !errors.Is(r.Err, driver.ErrClosed) {
		t.Errorf("watching after Close: %v", r.Err)
	}
}
