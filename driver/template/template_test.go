package template_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/template"
	"github.com/holdfast-go/holdfast/internal/effort"
)

func claim(id string) driver.Claim {
	return driver.Claim{Name: "m", ID: id, Weight: 1, Limit: 1, TTL: 10 * time.Second, Queue: true}
}

// send does one operation.
func send(d *template.Driver, kind driver.Kind, c driver.Claim) (r driver.Result) {
	d.Do(context.Background(), []driver.Op{{Kind: kind, Claim: c}}, func(_ int, got driver.Result) { r = got })
	return r
}

// insist does an operation as a caller does: again while there is no answer.
func insist(d *template.Driver, kind driver.Kind, c driver.Claim) driver.Result {
	for {
		if r := send(d, kind, c); driver.IsAnswer(r.Err) {
			return r
		}
	}
}

// quiet is a store without faults.
func quiet() *memStore { return newStore(faults{}, nil) }

// bad is a store that loses, delays and refuses, each of which must cost no more than time.
var bad = faults{
	latency: 20 * time.Millisecond, loseCall: 0.1, loseAnswer: 0.1, late: 0.1, conflict: 0.2, watchDelay: time.Second,
}

// Over a store with all faults at once, one client holds the lock at a time, tokens grow, nobody who is released comes
// back, and everybody gets the lock in the end.
func TestBadStore(t *testing.T) {
	for seed := range effort.Pick[uint64](100, 10_000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { useBadStore(t, seed) })
		})
	}
}

func useBadStore(t *testing.T, seed uint64) {
	s := newStore(bad, rand.New(rand.NewPCG(seed, 0)))
	var all sync.WaitGroup
	var mu sync.Mutex
	held, last := 0, uint64(0)
	for client := range 3 {
		d := template.New(s)
		defer d.Close()
		all.Go(func() {
			for i := range 4 {
				c := claim(fmt.Sprintf("%d-%d", client, i))
				r := insist(d, driver.OpRequest, c)
				for token := r.Status.Token; r.Err == nil && !r.Status.Granted; {
					c.Token = token
					driver.Sleep(context.Background(), time.Second)
					r = insist(d, driver.OpRequest, c)
				}
				if r.Err != nil {
					t.Errorf("%s: %v", c.ID, r.Err)
					return
				}
				mu.Lock()
				held++
				if held > 1 || r.Status.Token <= last {
					t.Errorf("%d hold the lock, the last under token %d after %d", held, r.Status.Token, last)
				}
				last = r.Status.Token
				mu.Unlock()
				driver.Sleep(context.Background(), 100*time.Millisecond)
				mu.Lock()
				held--
				mu.Unlock()
				c.Token = r.Status.Token
				if err := insist(d, driver.OpRelease, c).Err; err != nil {
					t.Errorf("releasing %s: %v", c.ID, err)
				}
				c.Token = 0
				if r := insist(d, driver.OpRequest, c); !errors.Is(r.Err, driver.ErrGone) {
					t.Errorf("%s came back: %+v", c.ID, r)
				}
			}
		})
	}
	all.Wait()
	time.Sleep(time.Second) // late writes arrive
	if r := insist(template.New(s), driver.OpQueue, claim("")); r.Err != nil || len(r.Queue) > 0 {
		t.Errorf("the queue is %+v, error %v", r.Queue, r.Err)
	}
}

// An operation whose answer was lost is done once, and the next attempt at it finds that.
func TestLostAnswer(t *testing.T) {
	s := quiet()
	d, c := template.New(s), claim("a")
	lose := func(kind driver.Kind) {
		t.Helper()
		s.faults.loseNext = true
		if r := send(d, kind, c); driver.IsAnswer(r.Err) || errors.Is(r.Err, driver.ErrUnsent) {
			t.Errorf("%v: the answer was lost, and the error is %v", kind, r.Err)
		}
	}
	lose(driver.OpRequest)
	_, before := s.counts()
	queue := send(d, driver.OpQueue, c).Queue
	r := send(d, driver.OpRequest, c)
	if len(queue) != 1 || !r.Status.Granted || r.Status.Token != queue[0].Token {
		t.Errorf("after the first copy the queue was %+v, and the second got %+v", queue, r)
	}
	c.Token = r.Status.Token
	lose(driver.OpRelease)
	if err := send(d, driver.OpRelease, c).Err; err != nil {
		t.Errorf("the second copy of a release got %v", err)
	}
	if _, writes := s.counts(); writes != before+2 {
		t.Errorf("%d writes after the first, want one renewal and one release", writes-before)
	}
}

// Operations of a batch that are on one lock are one read and one write, and conflict with nobody but others.
func TestBatchIsOneWrite(t *testing.T) {
	s := quiet()
	var batch []driver.Op
	for i := range 20 {
		c := claim(fmt.Sprint("c", i))
		c.Limit = driver.All
		batch = append(batch, driver.Op{Kind: driver.OpRequest, Claim: c})
	}
	var tokens []uint64
	template.New(s).Do(t.Context(), batch, func(_ int, r driver.Result) {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("got %+v", r)
		}
		tokens = append(tokens, r.Status.Token)
	})
	slices.Sort(tokens)
	if reads, writes := s.counts(); reads != 1 || writes != 1 || len(slices.Compact(tokens)) != len(batch) {
		t.Errorf("%d reads, %d writes, tokens %v", reads, writes, tokens)
	}
}

// Tokens go on growing after the store has removed the record, which it does when nothing in it matters any more.
func TestNothingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quiet()
		d := template.New(s)
		before := send(d, driver.OpRequest, claim("expires")).Status
		time.Sleep(2*10*time.Second + 1)
		if r, _ := s.Get(t.Context(), "holdfast/m"); r.Revision != "" {
			t.Errorf("the record stays: %s", r.Data)
		}
		if after := send(d, driver.OpRequest, claim("next")).Status; after.Token <= before.Token {
			t.Errorf("token %d after %d", after.Token, before.Token)
		}
	})
}

// A grant is told that comes after the request was written and before its answer, while a watch was there already.
func TestNewsBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quiet()
		holder, waiter := template.New(s), template.New(s)
		defer waiter.Close()
		var told []driver.Event
		waiter.Subscribe(func(e driver.Event) { told = append(told, e) })
		pair := func(id string) driver.Claim {
			c := claim(id)
			c.Limit = 2
			return c
		}
		followed := driver.Op{Kind: driver.OpRequest, Claim: pair("own"), Follow: true} // so there is a watch
		waiter.Do(t.Context(), []driver.Op{followed}, func(int, driver.Result) {})
		send(holder, driver.OpRequest, pair("holder"))
		synctest.Wait()
		told = nil
		s.afterPut = func() {
			s.afterPut = nil
			send(holder, driver.OpRelease, claim("holder"))
			synctest.Wait()
		}
		if st := send(waiter, driver.OpRequest, pair("waiter")).Status; st.Granted {
			t.Fatalf("the answer was from before the release: %+v", st)
		}
		synctest.Wait()
		if !slices.ContainsFunc(told, func(e driver.Event) bool { return e.ID == "waiter" && e.Status.Granted }) {
			t.Errorf("told %+v", told)
		}
	})
}

// A renewal that is under way when its claim expires does not come back once another client has written the end.
func TestRenewalAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quiet()
		holder, other := template.New(s), template.New(s)
		defer other.Close()
		send(holder, driver.OpRequest, claim("holder"))
		send(other, driver.OpRequest, claim("next"))
		time.Sleep(9 * time.Second)
		send(other, driver.OpRequest, claim("next"))
		s.beforePut = func() {
			s.beforePut = nil
			time.Sleep(time.Second)
			if r := send(other, driver.OpRequest, claim("next")); r.Err != nil || !r.Status.Granted {
				t.Errorf("the next in line got %+v", r)
			}
		}
		if r := send(holder, driver.OpRequest, claim("holder")); !errors.Is(r.Err, driver.ErrGone) {
			t.Errorf("the renewal got %+v", r)
		}
	})
}
