package sqltest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// inOneBatch has a driver do operations as one batch, and returns their results.
func inOneBatch(t *testing.T, d *drivertest.Facade, ops ...driver.Op) []driver.Result {
	t.Helper()
	results := make([]driver.Result, len(ops))
	answers := 0
	d.Do(t.Context(), ops, func(i int, r driver.Result) {
		results[i] = r
		answers++
	})
	if answers != len(ops) {
		t.Fatalf("%d of %d operations were answered", answers, len(ops))
	}
	return results
}

func asking(c driver.Claim) driver.Op { return driver.Op{Kind: driver.OpRequest, Claim: c} }

func about(kind driver.Kind, c driver.Claim) driver.Op { return driver.Op{Kind: kind, Claim: c} }

// all is an operation of each kind that changes something, each on a lock of its own, for which it makes a claim.
// Nobody follows that: the driver is left alone with the batch.
func all(t *testing.T, d *drivertest.Facade) []driver.Op {
	t.Helper()
	held := func(name string) driver.Claim {
		c := mutex(name)
		c.Token = inOneBatch(t, d, asking(c))[0].Status.Token
		return c
	}
	renewed, valued := about(driver.OpRequest, held("renewed")), about(driver.OpSetValue, held("valued"))
	renewed.Brief = true
	valued.Value = driver.Value{Text: "kept", Token: valued.Claim.Token, Set: time.Now()}
	return []driver.Op{
		asking(mutex("new")), renewed, valued,
		about(driver.OpRelease, held("released")), about(driver.OpBreak, held("broken")),
		about(driver.OpRevoke, held("revoked")), about(driver.OpQueue, held("looked at")),
	}
}

// Whatever a batch changes, the disk is waited for once, and until then nobody sees any of it.
func TestBatchIsOneTransaction(t *testing.T) {
	path := newFile(t)
	d, disk := onSlowDisk(t, path)
	disk.slow.Store(false)
	ops := all(t, d)
	const granted = "SELECT count(*) FROM holdfast_claims"
	before := count(t, path, granted)
	disk.slow.Store(true)
	done := make(chan []driver.Result)
	go func() { done <- inOneBatch(t, d, ops...) }()
	goOn := <-disk.commits
	if n := count(t, path, granted); n != before {
		t.Errorf("%d claims are seen before the commit, want %d", n, before)
	}
	close(goOn)
	select {
	case goOn := <-disk.commits:
		t.Error("there is a second commit")
		disk.slow.Store(false)
		close(goOn)
		<-done
	case results := <-done:
		for i, r := range results {
			if r.Err != nil {
				t.Errorf("%v: %v", ops[i].Kind, r.Err)
			}
		}
	}
	disk.slow.Store(false)
	if n := count(t, path, granted); n != before-1 {
		t.Errorf("there are %d claims afterwards, want %d: one is new, and two have ended", n, before-1)
	}
}

// If a batch cannot be committed, all of its operations have failed, and none has done anything.
func TestBatchFailsAsOne(t *testing.T) {
	errPlanned, path := errors.New("planned"), newFile(t)
	p, d, closeBoth := openPanicking(t, path, errPlanned)
	ops := all(t, d)
	const state = "SELECT count(*) * 100 + sum(revoked) * 10" +
		" + (SELECT count(*) FROM holdfast_values) FROM holdfast_claims"
	before, commit := count(t, path, state), "COMMIT"
	p.at.Store(&commit)
	for i, r := range inOneBatch(t, d, ops...) {
		if !errors.Is(r.Err, errPlanned) || driver.IsAnswer(r.Err) || errors.Is(r.Err, driver.ErrUnsent) {
			t.Errorf("%v: %v, want the error of the commit, after which nobody knows", ops[i].Kind, r.Err)
		}
	}
	if now := count(t, path, state); now != before {
		t.Errorf("the state was %d, and is %d", before, now)
	}
	for i, r := range inOneBatch(t, d, ops...) {
		if r.Err != nil {
			t.Errorf("%v again: %v", ops[i].Kind, r.Err)
		}
	}
	if err := closeBoth(); err != nil {
		t.Error(err)
	}
}

// An operation that gets no for an answer does not keep the others of its batch from what they do.
func TestAnswersInABatch(t *testing.T) {
	d := open(t, newFile(t))
	gone := mutex("gone")
	gone.Token = 1
	held := claimed.Acquire(t, d, mutex("valued"))
	newer, older := about(driver.OpSetValue, held), about(driver.OpSetValue, held)
	newer.Value = driver.Value{Text: "newer", Token: held.Token, Set: time.Now()}
	older.Value = driver.Value{Text: "older", Token: held.Token, Set: newer.Value.Set.Add(-time.Second)}
	inOneBatch(t, d, newer)
	a, b := mutex("a"), mutex("b")
	want := []error{
		nil, driver.ErrGone, driver.ErrGone, driver.ErrGone, driver.ErrGone,
		driver.ErrRefused, errors.ErrUnsupported, nil,
	}
	for i, r := range inOneBatch(t, d,
		asking(a), asking(gone), about(driver.OpRelease, gone), about(driver.OpBreak, gone),
		about(driver.OpRevoke, gone), older, about(driver.OpPropose, gone), asking(b),
	) {
		if !errors.Is(r.Err, want[i]) {
			t.Errorf("operation %d got %v, want %v", i, r.Err, want[i])
		}
	}
	request(t, d, a, true)
	request(t, d, b, true)
	if v, err := d.Value(t.Context(), "valued"); err != nil || v.Text != "newer" {
		t.Errorf("the value is %+v, %v", v, err)
	}
}

// A lock whose row is damaged keeps no other from being locked with it.
func TestDamagedRowInABatch(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	claimed.Acquire(t, d, mutex("damaged"))
	change(t, path, "UPDATE holdfast_claims SET weight = 'much' WHERE name = ?", []byte("damaged"))
	a, b := mutex("a"), mutex("b")
	ops := []driver.Op{asking(a), asking(mutex("damaged")), asking(b)}
	for i, r := range inOneBatch(t, d, ops...) {
		if !errors.Is(r.Err, driver.ErrBatchRejected) {
			t.Errorf("operation %d got %v, want that its batch was rejected", i, r.Err)
		}
	}
	if n := count(t, path, "SELECT count(*) FROM holdfast_claims"); n != 1 {
		t.Errorf("after a batch that was rejected there are %d claims", n)
	}
	type told struct {
		i int
		a batch.Answer
	}
	answers := make(chan told, len(ops))
	batch.New(d, nil).Go(t.Context(), ops, patience, func(i int, a batch.Answer) { answers <- told{i, a} })
	for range ops {
		got := <-answers
		switch r := got.a.Result; {
		case got.i != 1 && !r.Status.Granted:
			t.Errorf("operation %d got %+v", got.i, r)
		case got.i == 1 && (r.Err == nil || errors.Is(r.Err, driver.ErrBatchRejected)):
			t.Errorf("the request of what is damaged got %+v", r)
		}
	}
}

// Operations of a batch on one lock act in their order.
func TestOrderInABatch(t *testing.T) {
	d := open(t, newFile(t))
	try := func() driver.Op { return asking(claimed.Try(mutex("m"))) }
	release := func() driver.Op { return about(driver.OpRelease, claimed.Acquire(t, d, mutex("m"))) }
	if rs := inOneBatch(t, d, try(), release()); rs[0].Status.Granted || rs[1].Err != nil {
		t.Errorf("before a release: %+v", rs)
	}
	first := release()
	next := mutex("m")
	rs := inOneBatch(t, d, first, asking(next), try(), asking(mutex("m")))
	if !rs[1].Status.Granted || rs[2].Status.Granted || rs[3].Status.Granted {
		t.Errorf("after a release: %+v", rs)
	}
	if rs[1].Status.Token <= first.Claim.Token || rs[3].Status.Token <= rs[1].Status.Token {
		t.Errorf("the tokens after %d do not grow: %+v", first.Claim.Token, rs)
	}
}

// A panic about one claim reaches one caller, and the other operations of its batch have their results.
func TestPanicInABatch(t *testing.T) {
	path := newFile(t)
	claimed.Acquire(t, open(t, path), mutex("m"))
	p, d, closeBoth := openPanicking(t, path, nil)
	looking := "-- Finds the claim ahead" // as only those do who wait
	p.at.Store(&looking)
	waiter := claimed.Enqueue(t, d, mutex("m"))
	if st, err := d.Wait(t.Context(), waiter); err != nil || st.Granted {
		t.Fatal(st, err)
	}
	answered := 0
	caught := panicOf(func() {
		d.Do(t.Context(), []driver.Op{asking(mutex("a")), asking(waiter), asking(mutex("b"))},
			func(_ int, r driver.Result) {
				if r.Err != nil || !r.Status.Granted {
					t.Errorf("%+v", r)
				}
				answered++
			})
	})
	if caught == nil || answered != 2 {
		t.Errorf("%d answers, and a panic with %v", answered, caught)
	}
	if err := closeBoth(); err != nil {
		t.Error(err)
	}
}

// Claims that end in batches are swept as soon as those that end alone.
func TestSweepAfterABatch(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	change(t, path, "INSERT INTO holdfast_ends (name, id, token, released, deadline) VALUES (x'00', 'old', 1, 1, 0)")
	var ops []driver.Op
	for i := range 100 {
		ops = append(ops, asking(mutex(fmt.Sprint(i))))
	}
	inOneBatch(t, d, ops...)
	request(t, d, mutex("m"), true)
	if n := count(t, path, "SELECT count(*) FROM holdfast_ends"); n != 0 {
		t.Errorf("%d ends are remembered", n)
	}
}
