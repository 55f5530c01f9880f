package batch_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// A counting driver answers at once with the token of each claim, and keeps what it was sent.
type counting struct {
	*engine
	mu      *sync.Mutex
	batches *[][]string
}

func newCounting() counting { return counting{newEngine(1, 1), new(sync.Mutex), new([][]string)} }

func (d counting) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	d.mu.Lock()
	var ids []string
	for _, op := range ops {
		ids = append(ids, op.Claim.ID)
	}
	slices.Sort(ids)
	*d.batches = append(*d.batches, ids)
	d.mu.Unlock()
	for i, op := range ops {
		done(i, driver.Result{Status: driver.Status{Token: op.Claim.Token}})
	}
}

// passed returns the tokens of the answers to three operations, by their places.
func passed(d driver.Driver) (tokens [3]uint64) {
	ops := []driver.Op{renewal("a"), renewal("b"), renewal("c")}
	for i := range ops {
		ops[i].Claim.Token = uint64(i) + 10
	}
	var mu sync.Mutex
	d.Do(context.Background(), ops, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		tokens[i] = r.Status.Token
	})
	return tokens
}

func TestIntercept(t *testing.T) {
	type next = func(driver.Op) driver.Result
	rule(t, "a batch stays together", func(t *testing.T) {
		d := newCounting()
		got := passed(batch.Intercept(d, func(_ context.Context, op driver.Op, next next) driver.Result {
			op.Claim.Token++
			return next(op)
		}))
		if got != [3]uint64{11, 12, 13} || len(*d.batches) != 1 {
			t.Errorf("answers %v, batches %v", got, *d.batches)
		}
	})
	rule(t, "one that blocks holds up none", func(t *testing.T) {
		d := newCounting()
		began := time.Now()
		got := passed(batch.Intercept(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
			if op.Claim.ID == "b" {
				driver.Sleep(ctx, time.Second)
			}
			return next(op)
		}))
		want := [][]string{{"a", "c"}, {"b"}}
		if got != [3]uint64{10, 11, 12} || !slices.EqualFunc(*d.batches, want, slices.Equal) {
			t.Errorf("answers %v, batches %v, want %v", got, *d.batches, want)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
	rule(t, "one may go twice, and one not at all", func(t *testing.T) {
		d := newCounting()
		got := passed(batch.Intercept(d, func(_ context.Context, op driver.Op, next next) driver.Result {
			switch op.Claim.ID {
			case "a":
				next(op)
			case "b":
				return driver.Result{}
			}
			return next(op)
		}))
		if want := [][]string{{"a", "c"}, {"a"}}; !slices.EqualFunc(*d.batches, want, slices.Equal) {
			t.Errorf("batches %v, want %v", *d.batches, want)
		}
		if got != [3]uint64{10, 0, 12} {
			t.Errorf("answers %v", got)
		}
	})
	rule(t, "panics go up", func(t *testing.T) {
		boom := errors.New("boom")
		for name, d := range map[string]driver.Driver{
			"of the driver": batch.Intercept(panicking{newEngine(1, 1)},
				func(_ context.Context, op driver.Op, next next) driver.Result { return next(op) }),
			"of the interceptor": batch.Intercept(newCounting(),
				func(_ context.Context, op driver.Op, next next) driver.Result {
					if op.Claim.ID == "b" {
						panic(boom)
					}
					return next(op)
				}),
		} {
			func() {
				defer func() {
					p, ok := recover().(*batch.Panic)
					if !ok || p.Value != boom && p.Value != "the driver's own" {
						t.Errorf("%s: the caller got %v", name, p)
					}
				}()
				passed(d)
			}()
		}
	})
	rule(t, "the driver can be found", func(t *testing.T) {
		d := batch.Intercept(sharded{newEngine(1, 1)}, nil)
		if s, ok := driver.As[driver.Sharder](d); !ok || s.Shard("xyz") != "x" {
			t.Error("its abilities are hidden")
		}
	})
	rule(t, "behind a Sender", func(t *testing.T) {
		e := newEngine(1, 1)
		var kinds []driver.Kind
		s := batch.New(batch.Intercept(e, func(_ context.Context, op driver.Op, next next) driver.Result {
			kinds = append(kinds, op.Kind)
			return next(op)
		}), nil)
		c := call(t, s, change("a"))
		e.attempt(t, 0).over()
		c.ends(nil)
		if synctest.Wait(); !slices.Equal(kinds, []driver.Kind{driver.OpRelease}) {
			t.Errorf("intercepted %v", kinds)
		}
	})
}
