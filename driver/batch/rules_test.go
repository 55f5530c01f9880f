package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// A sharded engine serves each lock at the place that its name begins with.
type sharded struct{ *engine }

func (sharded) Shard(name string) string { return name[:1] }

func TestLanesDoNotWaitForEachOther(t *testing.T) {
	rule(t, "classes", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		first := change("a")
		first.Kind = driver.OpRequest
		read := change("d")
		read.Kind = driver.OpQueue
		for _, op := range []driver.Op{first, change("b"), renewal("c"), read, {Kind: driver.OpLife}} {
			call(t, s, op)
		}
		e.attempts(t, 3)
		e.attempt(t, 0).has(t, "a") // b waits for it, as the last does for d
		e.attempt(t, 1).has(t, "c")
		e.attempt(t, 2).has(t, "d")
	})
	rule(t, "shards", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(sharded{e}, nil)
		for _, name := range []string{"x1", "y1", "x2", "y2"} {
			op := change(name)
			op.Claim.Name = name
			call(t, s, op)
		}
		e.attempts(t, 2)
		e.attempt(t, 0).has(t, "x1")
		e.attempt(t, 1).has(t, "y1")
		e.attempt(t, 1).over()
		e.attempt(t, 2).has(t, "y2")
	})
}

func TestFewGoAlone(t *testing.T) {
	rule(t, "so many as gain nothing by a batch", func(t *testing.T) {
		e := newEngine(3, 1)
		s := batch.New(e, nil)
		for _, id := range []string{"a", "b", "c", "d"} {
			call(t, s, change(id))
		}
		e.attempts(t, 3)
		e.attempt(t, 1).over()
		e.attempts(t, 3) // d has gathered, and two attempts are under way
		e.attempt(t, 0).over()
		e.attempt(t, 2).over()
		e.attempt(t, 3).has(t, "d")
	})
	rule(t, "also one with which nothing gathers", func(t *testing.T) {
		e := newEngine(1, 0)
		s := batch.New(e, nil)
		call(t, s, change("a"))
		b := call(t, s, change("b"))
		boom := errors.New("boom")
		e.attempt(t, 1).ends(func() { panic(boom) })
		synctest.Wait()
		if b.panic != boom {
			t.Errorf("the caller panicked with %v, not on its own goroutine", b.panic)
		}
	})
	rule(t, "all, where none gains anything", func(t *testing.T) {
		e := newEngine(0, 1)
		s := batch.New(e, nil)
		for i := range 100 {
			call(t, s, change(fmt.Sprint(i)))
		}
		e.attempts(t, 100)
	})
	rule(t, "none overtakes those that have gathered", func(t *testing.T) {
		e := newEngine(2, 1)
		s := batch.New(e, nil)
		for _, id := range []string{"a", "b", "c"} {
			call(t, s, change(id))
		}
		e.attempt(t, 0).over()
		call(t, s, change("d"))
		e.attempts(t, 2)
		e.attempt(t, 1).over()
		e.attempt(t, 2).has(t, "c", "d")
	})
	rule(t, "on the goroutine of the caller", func(t *testing.T) {
		s := batch.New(panicking{newEngine(1, 1)}, nil)
		if c := call(t, s, change("a")); c.panic != "the driver's own" {
			t.Errorf("the caller panicked with %v", c.panic)
		}
	})
}

func TestManyGather(t *testing.T) {
	rule(t, "until there is room", func(t *testing.T) {
		e := newEngine(1, 2)
		s := batch.New(e, nil)
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			call(t, s, change(id))
		}
		e.attempts(t, 2)
		e.attempt(t, 1).has(t, "b")
		e.attempt(t, 0).over()
		e.attempt(t, 2).has(t, "c", "d", "e")
	})
	rule(t, "with all that can run", func(t *testing.T) {
		e := newEngine(1, 0)
		s := batch.New(e, nil)
		s.Go(t.Context(), []driver.Op{change("a"), change("b")}, limit, func(int, batch.Answer) {})
		s.Go(t.Context(), []driver.Op{change("c"), change("d")}, limit, func(int, batch.Answer) {})
		e.attempts(t, 1)
		e.attempt(t, 0).has(t, "a", "b", "c", "d")
		call(t, s, change("e")) // there is no bound
		e.attempt(t, 1).has(t, "e")
	})
	rule(t, "all of a caller that has many", func(t *testing.T) {
		e := newEngine(1, 0)
		e.traits.Full = 3
		s := batch.New(e, nil)
		var ops []driver.Op
		for i := range 8 {
			ops = append(ops, change(fmt.Sprint(i)))
		}
		s.Go(t.Context(), ops, limit, func(int, batch.Answer) {})
		e.attempts(t, 1)
		e.attempt(t, 0).has(t, "0", "1", "2", "3", "4", "5", "6", "7")
	})
	rule(t, "in bounded batches", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		var ops []driver.Op
		for i := range 600 {
			ops = append(ops, change(fmt.Sprint(i)))
		}
		s.Go(t.Context(), ops, limit, func(int, batch.Answer) {})
		if n := len(e.attempt(t, 0).ops); n != 512 {
			t.Errorf("the first batch has %d operations, want 512", n)
		}
		e.attempts(t, 1)
		e.attempt(t, 0).over()
		if a := e.attempt(t, 1); len(a.ops) != 88 || a.ops[0].Claim.ID != "512" {
			t.Errorf("the second batch has %d operations, from %q on", len(a.ops), a.ops[0].Claim.ID)
		}
	})
	rule(t, "and get their answers one by one", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("a"))
		b, c := call(t, s, change("b")), call(t, s, change("c"))
		e.attempt(t, 0).over()
		e.attempt(t, 1).answer(1, driver.Result{Err: driver.ErrGone})
		c.ends(driver.ErrGone)
		b.waits()
	})
}

func TestNobodyWaitsBehindASlowBatch(t *testing.T) {
	const longLimit = 10 * time.Second
	rule(t, "nothing is known of the engine", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		callWithin(t, s, change("hangs"), longLimit)
		callWithin(t, s, change("next"), longLimit)
		leavesAfter(t, e, 20*time.Millisecond)
	})
	rule(t, "the engine is slow", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		callWithin(t, s, change("slow"), longLimit)
		time.Sleep(50 * time.Millisecond)
		e.attempt(t, 0).over()
		callWithin(t, s, change("hangs"), longLimit)
		callWithin(t, s, change("next"), longLimit)
		e.attempts(t, 2)
		time.Sleep(200*time.Millisecond - 1)
		e.attempts(t, 2)
		time.Sleep(time.Nanosecond)
		e.attempt(t, 2).has(t, "next")
	})
	rule(t, "the limits are short", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		callWithin(t, s, change("hangs"), longLimit)
		callWithin(t, s, change("patient"), longLimit)
		callWithin(t, s, change("next"), 80*time.Millisecond)
		leavesAfter(t, e, 10*time.Millisecond)
	})
	rule(t, "an attempt that was cancelled does not count as usual", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		c := callWithin(t, s, change("given up"), longLimit)
		time.Sleep(time.Second)
		c.cancel()
		c.unknown(context.Canceled)
		callWithin(t, s, change("hangs"), longLimit)
		callWithin(t, s, change("next"), longLimit)
		time.Sleep(20 * time.Millisecond)
		e.attempts(t, 3)
	})
	rule(t, "eight are stalled", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		for i := range 9 { // each of the first eight stalls
			callWithin(t, s, change(fmt.Sprint(i)), longLimit)
			time.Sleep(20 * time.Millisecond)
		}
		next := callWithin(t, s, change("next"), limit)
		time.Sleep(limit - 1)
		e.attempts(t, 9)
		next.waits()
		time.Sleep(time.Nanosecond)
		next.ends(driver.ErrUnsent)
		later := callWithin(t, s, change("later"), limit)
		e.attempt(t, 4).over()
		e.attempt(t, 9).has(t, "later")
		e.attempt(t, 9).over()
		later.ends(nil)
	})
}

// leavesAfter fails unless a second attempt begins after exactly d.
func leavesAfter(t *testing.T, e *engine, d time.Duration) {
	t.Helper()
	e.attempts(t, 1)
	time.Sleep(d - 1)
	e.attempts(t, 1)
	time.Sleep(time.Nanosecond)
	e.attempts(t, 2)
}

func TestOneOperationOnAClaim(t *testing.T) {
	rule(t, "of all lanes", func(t *testing.T) {
		e := newEngine(8, 1)
		s := batch.New(e, nil)
		set := change("a")
		set.Kind = driver.OpSetValue
		call(t, s, renewal("a"))
		call(t, s, change("a"))
		call(t, s, set)
		call(t, s, change("b"))
		e.attempts(t, 2)
		e.attempt(t, 1).has(t, "b")
		e.attempt(t, 1).over()
		e.attempts(t, 2)
		for i, kind := range []driver.Kind{driver.OpRequest, driver.OpRelease, driver.OpSetValue} {
			a := e.attempt(t, []int{0, 2, 3}[i])
			if a.ops[0].Kind != kind || len(a.ops) != 1 {
				t.Errorf("number %d is %v", i, a.ops)
			}
			a.over()
		}
		call(t, s, change("a")) // nothing is left of the others
		e.attempts(t, 5)
	})
	rule(t, "of one batch", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		s.Go(t.Context(), []driver.Op{change("a"), change("a"), change("b")}, limit, func(int, batch.Answer) {})
		e.attempt(t, 0).has(t, "a", "b")
		e.attempt(t, 0).over()
		e.attempt(t, 1).has(t, "a")
	})
	rule(t, "where all others are sent at once", func(t *testing.T) {
		e := newEngine(0, 0)
		s := batch.New(e, nil)
		call(t, s, change("a"))
		gone, last := call(t, s, change("a")), call(t, s, renewal("a"))
		call(t, s, change("b"))
		e.attempts(t, 2)
		gone.cancel()
		gone.ends(driver.ErrUnsent)
		e.attempt(t, 0).over()
		e.attempts(t, 3)
		last.waits()
		e.attempt(t, 2).over()
		last.ends(nil)
		call(t, s, change("a"))
		e.attempts(t, 4)
	})
	rule(t, "also once its caller has given up", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a := call(t, s, change("a"))
		call(t, s, change("b"))
		e.attempt(t, 0).over()
		a.cancel()
		a.unknown(context.Canceled)
		call(t, s, renewal("a"))
		e.attempts(t, 2) // the first may still be applied
		e.attempt(t, 1).answer(0, driver.Result{})
		e.attempt(t, 2).has(t, "a")
	})
	rule(t, "unless it was given up before it was sent", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		gathers, waits := call(t, s, change("a")), call(t, s, change("a"))
		last := call(t, s, change("a"))
		waits.cancel()
		waits.ends(driver.ErrUnsent)
		gathers.cancel()
		gathers.ends(driver.ErrUnsent)
		e.attempt(t, 0).over()
		e.attempt(t, 1).has(t, "a")
		e.attempt(t, 1).over()
		last.ends(nil)
		e.attempts(t, 2)
	})
	rule(t, "and any number on a lock", func(t *testing.T) {
		e := newEngine(1, 0)
		s := batch.New(e, nil)
		op := driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: "m", ID: "any"}}
		call(t, s, op)
		call(t, s, op)
		e.attempts(t, 2)
	})
}

func TestGivingUp(t *testing.T) {
	rule(t, "before the call", func(t *testing.T) {
		e := newEngine(1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := batch.New(e, nil).Do(ctx, change("a"), limit)
		if !errors.Is(a.Err, driver.ErrUnsent) || !errors.Is(a.Err, context.Canceled) {
			t.Errorf("the error is %v", a.Err)
		}
		e.attempts(t, 0)
	})
	rule(t, "while it gathers, it is taken out", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		first, gone, last := call(t, s, change("a")), call(t, s, change("b")), call(t, s, change("c"))
		gone.cancel()
		gone.ends(driver.ErrUnsent)
		e.attempt(t, 0).over()
		e.attempt(t, 1).has(t, "a", "c")
		e.attempt(t, 1).over()
		first.ends(nil)
		last.ends(nil)
	})
	rule(t, "while it is under way, its outcome is unknown", func(t *testing.T) {
		for _, alone := range []bool{true, false} {
			e := newEngine(1, 1)
			s := batch.New(e, nil)
			if !alone {
				call(t, s, change("x"))
			}
			c, d := call(t, s, change("a")), callWithin(t, s, change("b"), limit/2)
			e.attempt(t, 0).over()
			if alone {
				c.ends(nil)
			} else {
				c.cancel()
				c.unknown(context.Canceled)
			}
			e.attempts(t, 2)
			d.waits()
			time.Sleep(limit / 2)
			d.unknown(context.DeadlineExceeded)
			e.attempt(t, 1)
		}
	})
	rule(t, "an attempt lasts while somebody waits for it", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		short, long := callWithin(t, s, change("a"), limit), callWithin(t, s, change("b"), 3*limit)
		told := call(t, s, change("c"))
		e.attempt(t, 0).over()
		a := e.attempt(t, 1)
		if deadline, ok := a.ctx.Deadline(); !ok || time.Until(deadline) != 3*limit {
			t.Errorf("the attempt ends at %v", deadline)
		}
		time.Sleep(limit - 1)
		a.answer(2, driver.Result{})
		told.ends(nil)
		time.Sleep(time.Nanosecond)
		short.unknown(context.DeadlineExceeded)
		if synctest.Wait(); a.ctx.Err() != nil {
			t.Fatal("the attempt was cancelled though somebody waits for it")
		}
		long.cancel()
		long.unknown(context.Canceled)
		if synctest.Wait(); a.ctx.Err() == nil {
			t.Error("the attempt goes on though nobody waits for it")
		}
	})
	rule(t, "an attempt is cancelled when the last that was waited for has its answer", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b := call(t, s, change("a")), call(t, s, change("b"))
		e.attempt(t, 0).over()
		a.cancel()
		a.unknown(context.Canceled)
		e.attempt(t, 1).answer(1, driver.Result{})
		b.ends(nil)
		if synctest.Wait(); e.attempt(t, 1).ctx.Err() == nil {
			t.Error("the attempt goes on though nobody waits for it")
		}
	})
	rule(t, "an attempt is not cancelled because all have their answers", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		b := call(t, s, change("b"))
		e.attempt(t, 0).over()
		a := e.attempt(t, 1)
		a.answer(0, driver.Result{})
		b.ends(nil)
		if synctest.Wait(); a.ctx.Err() != nil {
			t.Error("the attempt was cancelled while it cleans up")
		}
		a.over()
	})
	rule(t, "without a limit, never", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		first, next := callWithin(t, s, change("a"), 0), callWithin(t, s, change("b"), 0)
		time.Sleep(time.Hour)
		for i, c := range []*caller{first, next} {
			if _, ok := e.attempt(t, i).ctx.Deadline(); ok {
				t.Errorf("attempt %d has a deadline", i)
			}
			c.waits()
			e.attempt(t, i).over()
			c.ends(nil)
		}
	})
}

func TestRejectedBatch(t *testing.T) {
	rejected := driver.Result{Err: fmt.Errorf("too large: %w", driver.ErrBatchRejected)}
	rule(t, "each goes alone, once", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b, c := call(t, s, change("a")), call(t, s, change("b")), call(t, s, change("c"))
		e.attempt(t, 0).over()
		e.attempt(t, 1).answer(0, driver.Result{Err: driver.ErrRefused})
		a.ends(driver.ErrRefused)
		e.attempt(t, 1).answerAll(rejected)
		call(t, s, change("later"))
		e.attempts(t, 2)
		e.attempt(t, 1).over()
		e.attempt(t, 2).has(t, "b")
		e.attempt(t, 2).answerAll(rejected) // which no driver does
		b.ends(driver.ErrUnsent)
		e.attempt(t, 2).over()
		e.attempt(t, 3).has(t, "c")
		e.attempt(t, 3).over()
		c.ends(nil)
		e.attempt(t, 4).has(t, "later")
	})
	rule(t, "what is given up meanwhile was not sent", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b := call(t, s, change("a")), call(t, s, change("b"))
		e.attempt(t, 0).over()
		e.attempt(t, 1).answerAll(rejected)
		b.cancel()
		b.ends(driver.ErrUnsent)
		e.attempt(t, 1).over()
		e.attempt(t, 2).has(t, "a")
		e.attempt(t, 2).over()
		a.ends(nil)
		e.attempts(t, 3)
	})
}

func TestPartsGoOnAtOnce(t *testing.T) {
	again := driver.Result{Again: true}
	rule(t, "alone", func(t *testing.T) {
		calls := 0
		d := answering{newEngine(1, 1), func(context.Context, driver.Op) driver.Result {
			calls++
			return driver.Result{Again: calls < 3, Status: driver.Status{Token: uint64(calls)}}
		}}
		if a := batch.New(d, nil).Do(t.Context(), change("a"), limit); a.Err != nil || a.Status.Token != 3 {
			t.Errorf("%+v after %d calls", a, calls)
		}
	})
	rule(t, "alone, until the limit", func(t *testing.T) {
		d := answering{newEngine(1, 1), func(ctx context.Context, _ driver.Op) driver.Result {
			driver.Sleep(ctx, limit/3)
			return again
		}}
		c := call(t, batch.New(d, nil), change("a"))
		time.Sleep(2 * limit)
		c.unknown(context.DeadlineExceeded)
	})
	rule(t, "together, whatever is under way", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b, c := call(t, s, change("a")), call(t, s, change("b")), call(t, s, change("c"))
		e.attempt(t, 0).over()
		e.attempt(t, 1).answer(0, again)
		e.attempt(t, 1).answer(2, again)
		e.attempt(t, 2).has(t, "a")
		e.attempt(t, 3).has(t, "c")
		e.attempt(t, 2).over()
		e.attempt(t, 3).over()
		a.ends(nil)
		c.ends(nil)
		b.waits()
	})
}

// The outcome of an operation of which a part was done is unknown if its rest was not sent.
func TestUnsentAfterAPart(t *testing.T) {
	refused := driver.Result{Err: &driver.ServerError{Words: "busy", Effect: driver.NotNow}}
	wantUnknown := func(t *testing.T, err error) {
		t.Helper()
		words, ok := errors.AsType[*driver.ServerError](err)
		if errors.Is(err, driver.ErrUnsent) || !ok || words.Words != "busy" {
			t.Errorf("the error is %v", err)
		}
	}
	rule(t, "alone", func(t *testing.T) {
		calls := 0
		d := answering{newEngine(1, 1), func(context.Context, driver.Op) driver.Result {
			if calls++; calls == 1 {
				return driver.Result{Again: true}
			}
			return refused
		}}
		wantUnknown(t, batch.New(d, nil).Do(t.Context(), change("a"), limit).Err)
	})
	rule(t, "together", func(t *testing.T) {
		e := newEngine(1, 1)
		var got []error
		batch.New(e, nil).Go(t.Context(), []driver.Op{change("a")}, limit, func(_ int, a batch.Answer) {
			got = append(got, a.Err)
		})
		for n, r := range []driver.Result{{Again: true}, refused} {
			at := e.attempt(t, n)
			at.ends(func() { at.answerAll(r) })
		}
		if synctest.Wait(); len(got) != 1 {
			t.Fatalf("the errors are %v", got)
		}
		wantUnknown(t, got[0])
	})
}

// An answering driver answers at once.
type answering struct {
	*engine
	answer func(context.Context, driver.Op) driver.Result
}

func (d answering) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	for i, op := range ops {
		done(i, d.answer(ctx, op))
	}
}

// A panicking driver does nothing else.
type panicking struct{ *engine }

func (panicking) Do(context.Context, []driver.Op, func(int, driver.Result)) {
	panic("the driver's own")
}

func TestPanics(t *testing.T) {
	boom := errors.New("boom")
	rule(t, "the first caller gets it", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b, c, d := call(t, s, change("a")), call(t, s, change("b")), call(t, s, change("c")), call(t, s, change("d"))
		e.attempt(t, 0).over()
		a.cancel()
		a.unknown(context.Canceled)
		e.attempt(t, 1).answer(3, driver.Result{})
		e.attempt(t, 1).ends(func() { panic(boom) })
		synctest.Wait()
		p, ok := b.panic.(*batch.Panic)
		if !ok || !errors.Is(p, boom) || !strings.Contains(string(p.Stack), "engine_test.go") {
			t.Errorf("the first caller panicked with %v", b.panic)
		}
		if err := c.err(); driver.IsAnswer(err) || !strings.Contains(err.Error(), "boom") || c.panic != nil {
			t.Errorf("another caller got %v, and panicked with %v", err, c.panic)
		}
		d.ends(nil)
		call(t, s, change("b")) // the lane and the claims are free
		e.attempts(t, 3)
	})
	rule(t, "one of Go is told", func(t *testing.T) {
		s := batch.New(panicking{newEngine(1, 1)}, nil)
		var got []error
		s.Go(t.Context(), []driver.Op{change("a"), change("b")}, limit, func(_ int, a batch.Answer) {
			got = append(got, a.Err)
		})
		synctest.Wait()
		if len(got) != 2 {
			t.Fatalf("there were %d answers", len(got))
		}
		if _, ok := errors.AsType[*batch.Panic](got[0]); !ok {
			t.Errorf("the first was told %v", got[0])
		}
		if _, ok := errors.AsType[*batch.Panic](got[1]); ok || driver.IsAnswer(got[1]) {
			t.Errorf("the second was told %v", got[1])
		}
	})
	rule(t, "nobody is left to be told", func(t *testing.T) {
		e := newEngine(1, 1)
		var stray *batch.Panic
		s := batch.New(stubborn{e}, &batch.Options{Stray: func(p *batch.Panic) { stray = p }})
		ctx, cancel := context.WithCancel(t.Context())
		s.Go(ctx, []driver.Op{change("a")}, limit, func(int, batch.Answer) {})
		a := e.attempt(t, 0)
		cancel()
		synctest.Wait()
		a.ends(func() { panic(boom) })
		if synctest.Wait(); !errors.Is(stray, boom) {
			t.Errorf("the panic is %v", stray)
		}
	})
	rule(t, "alone, the lane goes on", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		a, b := call(t, s, change("a")), call(t, s, renewal("a"))
		e.attempt(t, 0).ends(func() { panic(boom) })
		synctest.Wait()
		if a.panic != boom {
			t.Errorf("the caller panicked with %v", a.panic)
		}
		e.attempt(t, 1).over()
		b.ends(nil)
	})
	rule(t, "the goroutine ends", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a := call(t, s, change("a"))
		e.attempt(t, 0).over()
		b := call(t, s, change("b"))
		e.attempt(t, 1).ends(runtime.Goexit)
		if err := a.err(); driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) {
			t.Errorf("the error is %v", err)
		}
		e.attempt(t, 2).over()
		b.ends(nil)
	})
}

// A stubborn driver does not look at its context.
type stubborn struct{ *engine }

func (d stubborn) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	d.engine.Do(context.WithoutCancel(ctx), ops, done)
}

func TestContextOfTheFirst(t *testing.T) {
	type key struct{}
	rule(t, "its values, and not its end", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "first"))
		for _, id := range []string{"a", "b"} {
			s.Go(ctx, []driver.Op{change(id)}, limit, func(int, batch.Answer) {})
			ctx = context.WithValue(t.Context(), key{}, "second")
		}
		e.attempt(t, 0).over()
		a := e.attempt(t, 1)
		a.has(t, "a", "b")
		if got := a.ctx.Value(key{}); got != "first" {
			t.Errorf("the value is %v", got)
		}
		cancel()
		if synctest.Wait(); a.ctx.Err() != nil {
			t.Error("the attempt ended with the context of its first operation")
		}
	})
}

func TestDriverThatBreaksTheContract(t *testing.T) {
	rule(t, "no result", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		a, b := call(t, s, change("a")), call(t, s, change("b"))
		for i, c := range []*caller{a, b} {
			e.attempt(t, i).ends(func() {})
			if err := c.err(); driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) {
				t.Errorf("the error of %d is %v, want an unknown outcome", i, err)
			}
		}
	})
	rule(t, "two results", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		call(t, s, change("x"))
		a, b := call(t, s, change("a")), call(t, s, change("b"))
		e.attempt(t, 0).over()
		e.attempt(t, 1).answer(0, driver.Result{})
		e.attempt(t, 1).answer(0, driver.Result{Err: driver.ErrGone})
		a.ends(nil)
		b.waits()
	})
}

func TestSent(t *testing.T) {
	rule(t, "is when the attempt began", func(t *testing.T) {
		e := newEngine(1, 1)
		began := time.Now()
		s := batch.New(e, &batch.Options{Now: func() time.Duration { return time.Since(began) }})
		a, b := call(t, s, change("a")), call(t, s, change("b"))
		time.Sleep(10 * time.Millisecond)
		e.attempt(t, 0).over()
		if a := <-a.answer; a.Sent != 0 {
			t.Errorf("the first was sent at %v", a.Sent)
		}
		e.attempt(t, 1)
		time.Sleep(10 * time.Millisecond)
		e.attempt(t, 1).over()
		if a := <-b.answer; a.Sent != 10*time.Millisecond {
			t.Errorf("the second was sent at %v", a.Sent)
		}
	})
}

func TestGo(t *testing.T) {
	rule(t, "has no goroutine for each", func(t *testing.T) {
		e := newEngine(1, 1)
		s := batch.New(e, nil)
		var ops []driver.Op
		for i := range 500 {
			ops = append(ops, renewal(fmt.Sprint(i)))
		}
		before := bubble.Goroutines()
		answers := 0
		s.Go(t.Context(), ops, limit, func(int, batch.Answer) { answers++ })
		e.attempts(t, 1)
		if n := bubble.Goroutines() - before; n > 1 {
			t.Errorf("there are %d more goroutines, want one for the attempt", n)
		}
		e.attempt(t, 0).over()
		if synctest.Wait(); answers != 500 {
			t.Errorf("there were %d answers", answers)
		}
	})
	rule(t, "gives up with its limit, and its context", func(t *testing.T) {
		for _, end := range []string{"limit", "context"} {
			e := newEngine(1, 1)
			s := batch.New(stubborn{e}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			answers := make([]error, 3)
			s.Go(ctx, []driver.Op{change("a"), change("b"), change("b")}, limit, func(i int, a batch.Answer) {
				answers[i] = a.Err
			})
			e.attempt(t, 0).answer(0, driver.Result{Err: driver.ErrGone})
			want := context.Canceled
			if end == "limit" {
				time.Sleep(limit + limit/4) // a quarter for the driver to say why, which this one does not use
				synctest.Wait()
				want = context.DeadlineExceeded
			}
			cancel()
			synctest.Wait()
			if answers[0] != driver.ErrGone || answers[1] != want || !errors.Is(answers[2], driver.ErrUnsent) {
				t.Errorf("%s: %v", end, answers)
			}
			e.attempt(t, 0).over()
		}
	})
	rule(t, "lets the driver say why there is no answer", func(t *testing.T) {
		cause := errors.New("the connection is refused")
		s := batch.New(answering{newEngine(1, 1), func(ctx context.Context, _ driver.Op) driver.Result {
			<-ctx.Done()
			time.Sleep(time.Millisecond)
			return driver.Result{Err: cause}
		}}, nil)
		var got error
		s.Go(t.Context(), []driver.Op{change("a")}, limit, func(_ int, a batch.Answer) { got = a.Err })
		time.Sleep(2 * limit)
		if synctest.Wait(); got != cause {
			t.Errorf("Go: %v, want what the driver said", got)
		}
	})
	rule(t, "tell may call Go", func(t *testing.T) {
		s := batch.New(answering{newEngine(1, 1), func(context.Context, driver.Op) driver.Result {
			return driver.Result{}
		}}, nil)
		var order []string
		s.Go(t.Context(), []driver.Op{change("a")}, limit, func(int, batch.Answer) {
			order = append(order, "a")
			s.Go(t.Context(), []driver.Op{change("a")}, limit, func(int, batch.Answer) {
				order = append(order, "again")
			})
		})
		if synctest.Wait(); !slices.Equal(order, []string{"a", "again"}) {
			t.Errorf("told %q", order)
		}
	})
}
