package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An answer is what the backend said to one question.
type answer struct {
	at     time.Time
	op     string // what was asked for: open, request, renew, wait, ...
	name   string // of the lock; of open the backend, of list the prefix
	claim  string // its ID, where one is meant
	result string
	took   time.Duration
}

// A trace prints answers, for --trace, one after the other in a goroutine that is there while there are some. Whoever
// has an answer goes on at once: locks have to be renewed also where nobody reads standard error.
type trace struct {
	print func(answer)

	mu     sync.Mutex
	queue  []answer
	missed int           // dropped since the last one that was queued
	idle   chan struct{} // closed when all is printed; nil while there is nothing to print
}

// mostTraced bounds how many answers wait to be printed.
const mostTraced = 4096

func (t *trace) add(x answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == mostTraced {
		t.missed++
		return
	}
	if t.missed > 0 {
		x.result += fmt.Sprintf(", after %s that nobody read", count(t.missed, "answer"))
		t.missed = 0
	}
	t.queue = append(t.queue, x)
	if t.idle == nil {
		t.idle = make(chan struct{})
		go t.printAll()
	}
}

func (t *trace) printAll() {
	for x, ok := t.next(); ok; x, ok = t.next() {
		t.print(x)
	}
}

func (t *trace) next() (x answer, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		close(t.idle)
		t.idle, t.queue = nil, nil
		return x, false
	}
	x, t.queue = t.queue[0], t.queue[1:]
	return x, true
}

// await returns when all is printed.
func (t *trace) await() {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	if idle != nil {
		<-idle
	}
}

// printAnswer prints one answer.
func (a *app) printAnswer(x answer) {
	if a.json {
		took := x.took.Seconds()
		a.emit(event{Event: "trace", Time: timeOf(x.at), Op: x.op, Name: x.name, Claim: x.claim, Result: x.result,
			Took: &took})
		return
	}
	what := x.op
	for _, part := range []string{x.name, x.claim} {
		if part != "" {
			what += " " + printable(part)
		}
	}
	a.say("%s: %s (%v)", what, x.result, round(x.took))
}

// A tracer is a driver that passes requests on to another one, and tells what was asked and what that answered.
// Abilities that it does not have itself are those of the other one, found by Unwrap.
type tracer struct {
	driver.Driver
	tell func(answer)
}

// A waitingTracer is a tracer of a driver that tells when a claim has moved. Without that ability clients do not call
// Wait.
type waitingTracer struct{ *tracer }

func traced(d driver.Driver, tell func(answer)) driver.Driver {
	t := &tracer{Driver: d, tell: tell}
	if _, waits := driver.As[driver.Waiter](d); waits {
		return waitingTracer{t}
	}
	return t
}

func (t *tracer) Unwrap() driver.Driver { return t.Driver }

// told tells an answer that has just come; good is what it says where err is nil.
func (t *tracer) told(begin time.Time, op, name, claim, good string, err error) {
	if err != nil {
		good = err.Error()
	}
	now := time.Now()
	t.tell(answer{at: now, op: op, name: name, claim: claim, result: good, took: now.Sub(begin)})
}

func (t *tracer) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	begin := time.Now()
	st, err := t.Driver.Request(ctx, c)
	t.told(begin, "request", c.Name, c.ID, stateOf(c, st), err)
	return st, err
}

// stateOf says what a status means for a claim.
func stateOf(c driver.Claim, st driver.Status) string {
	switch {
	case st.Granted && st.Revoked:
		return "granted, and asked to release it"
	case st.Granted:
		return "granted"
	case c.Queue || c.Token != 0:
		return "waits"
	default:
		return "taken"
	}
}

func (t *tracer) Release(ctx context.Context, c driver.Claim) error {
	begin := time.Now()
	err := t.Driver.Release(ctx, c)
	t.told(begin, "release", c.Name, c.ID, "released", err)
	return err
}

func (t *tracer) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	begin := time.Now()
	queue, err := t.Driver.Queue(ctx, name)
	t.told(begin, "queue", name, "", count(len(queue), "claim"), err)
	return queue, err
}

func (t *tracer) Peek(ctx context.Context, name string, n int) ([]driver.Entry, error) {
	begin := time.Now()
	queue, err := driver.Peek(ctx, t.Driver, name, n)
	t.told(begin, "peek", name, "", count(len(queue), "claim"), err)
	return queue, err
}

func (t *tracer) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	begin := time.Now()
	results, err := driver.Renew(ctx, t.Driver, claims)
	for i, c := range claims {
		result := driver.Result{Err: err}
		if err == nil {
			result = results[i]
		}
		t.told(begin, "renew", c.Name, c.ID, stateOf(c, result.Status), result.Err)
	}
	return results, err
}

func (t *tracer) Watch(ctx context.Context, name string) error {
	begin := time.Now()
	err := driver.Watch(ctx, t.Driver, name)
	t.told(begin, "watch", name, "", "may have changed", err)
	return err
}

func (t *tracer) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		begin, names, failed := time.Now(), 0, error(nil)
		for name, err := range driver.List(ctx, t.Driver, prefix) {
			if err == nil {
				names++
			}
			failed = err
			if !yield(name, err) {
				break
			}
		}
		t.told(begin, "list", prefix, "", count(names, "name"), failed)
	}
}

func (t *tracer) Break(ctx context.Context, name, id string) error {
	begin := time.Now()
	err := driver.Break(ctx, t.Driver, name, id)
	t.told(begin, "break", name, id, "broken", err)
	return err
}

func (t *tracer) Revoke(ctx context.Context, name, id string) error {
	begin := time.Now()
	err := driver.Revoke(ctx, t.Driver, name, id)
	t.told(begin, "revoke", name, id, "asked", err)
	return err
}

func (t *tracer) Value(ctx context.Context, name string) (driver.Value, error) {
	begin := time.Now()
	v, err := driver.ValueOf(ctx, t.Driver, name)
	t.told(begin, "value", name, "", count(len(v.Text), "byte"), err)
	return v, err
}

func (t *tracer) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	begin := time.Now()
	err := driver.SetValue(ctx, t.Driver, c, v)
	t.told(begin, "set value", c.Name, c.ID, count(len(v.Text), "byte"), err)
	return err
}

func (t *tracer) Close() error {
	begin := time.Now()
	err := t.Driver.Close()
	t.told(begin, "close", "", "", "closed", err)
	return err
}

func (t waitingTracer) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	begin := time.Now()
	st, err := driver.Wait(ctx, t.Driver, c)
	result := "may have moved"
	if st != (driver.Status{}) {
		result = stateOf(c, st)
	}
	t.told(begin, "wait", c.Name, c.ID, result, err)
	return st, err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
