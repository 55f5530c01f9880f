package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// An answer is what the backend said to one question.
type answer struct {
	at     time.Time
	op     string // what was asked for: open, request, renew, ...; or event, for what nobody has asked
	name   string // of the lock; of open the backend, of list the prefix
	claim  string // its ID, where one is meant
	result string
	took   *time.Duration // nil: of an event
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
		e := event{Event: "trace", Time: timeOf(x.at), Op: x.op, Name: x.name, Claim: x.claim, Result: x.result}
		if x.took != nil {
			e.Took = new(x.took.Seconds())
		}
		a.emit(e)
		return
	}
	what := x.op
	for _, part := range []string{x.name, x.claim} {
		if part != "" {
			what += " " + printable(part)
		}
	}
	if x.took == nil {
		a.say("%s: %s", what, x.result)
		return
	}
	a.say("%s: %s (%v)", what, x.result, round(*x.took))
}

// A tracer is a driver that passes operations on to another one, and tells what was asked, what the answer was, and
// what the other one tells of its own accord. Abilities that it does not have itself are those of the other one, found
// by Unwrap.
type tracer struct {
	driver.Driver
	tell func(answer)
}

func traced(d driver.Driver, tell func(answer)) driver.Driver {
	t := &tracer{tell: tell}
	t.Driver = batch.Intercept(d, t.pass)
	return t
}

// Unwrap implements [driver.Wrapper].
func (t *tracer) Unwrap() driver.Driver { return t.Driver }

// told tells an answer that has just come; good is what it says where err is nil.
func (t *tracer) told(begin time.Time, op, name, claim, good string, err error) {
	if err != nil {
		good = err.Error()
	}
	now := time.Now()
	took := now.Sub(begin)
	t.tell(answer{at: now, op: op, name: name, claim: claim, result: good, took: &took})
}

func (t *tracer) pass(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	begin := time.Now()
	r := next(op)
	t.told(begin, nameOf(op), op.Claim.Name, claimIn(op), resultOf(op, r), r.Err)
	return r
}

// nameOf names an operation.
func nameOf(op driver.Op) string {
	switch {
	case op.Kind == driver.OpRequest && op.Brief:
		return "renew"
	case op.Kind == driver.OpQueue && op.Most > 0:
		return "peek"
	default:
		return op.Kind.String()
	}
}

// claimIn is the ID of the claim that an operation is on, if it is on one.
func claimIn(op driver.Op) string {
	if op.Kind.IsOnClaim() {
		return op.Claim.ID
	}
	return ""
}

// resultOf says what the answer to an operation was that has none but good ones.
func resultOf(op driver.Op, r driver.Result) string {
	if r.Again {
		return "a part is done"
	}
	switch op.Kind {
	case driver.OpRequest, driver.OpPropose:
		return stateOf(r.Status, op.Claim.Queue || op.Claim.Token != 0)
	case driver.OpQueue:
		return count(len(r.Queue), "claim")
	case driver.OpValue:
		return count(len(r.Value.Text), "byte")
	case driver.OpSetValue:
		return count(len(op.Value.Text), "byte")
	case driver.OpRelease:
		return "released"
	case driver.OpBreak:
		return "broken"
	case driver.OpRevoke:
		return "asked"
	case driver.OpWatch:
		return "watched"
	default:
		return "answered"
	}
}

// stateOf says what a status means for a claim that waits if it is not granted, or leaves.
func stateOf(st driver.Status, waits bool) string {
	switch {
	case st.Granted && st.Revoked:
		return "granted, and asked to release it"
	case st.Granted:
		return "granted"
	case waits:
		return "waits"
	default:
		return "taken"
	}
}

// Subscribe implements [driver.Driver].
func (t *tracer) Subscribe(tell func(driver.Event)) (stop func()) {
	return t.Driver.Subscribe(func(e driver.Event) {
		t.tell(answer{at: time.Now(), op: "event", name: e.Name, claim: e.ID, result: newsOf(e)})
		tell(e)
	})
}

// newsOf says what an event means.
func newsOf(e driver.Event) string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Status != (driver.Status{}):
		return stateOf(e.Status, true)
	case e.ID != "":
		return "may have moved"
	case e.Name != "":
		return "may have changed"
	default:
		return "anything may have changed"
	}
}

// List implements [driver.Lister].
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

// Close implements [driver.Driver].
func (t *tracer) Close() error {
	begin := time.Now()
	err := t.Driver.Close()
	t.told(begin, "close", "", "", "closed", err)
	return err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
