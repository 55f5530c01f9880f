package soak

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A Plan says how long a day is.
type Plan struct {
	Names   int // that are used, half of them never again
	Cycles  int // that are measured, before and after
	Workers int // at once
}

// A holder of so many is killed, and its claim expires.
const killed = 100

// TTLs of claims: of those that are released, and of those whose holders are killed.
const longTTL, shortTTL = time.Minute, time.Second

// A day is what happens to a store.
type day struct {
	t       testing.TB
	store   Store
	plan    Plan
	clients []*drivertest.Facade
	used    atomic.Int64  // names so far
	errors  atomic.Int64  // requests that had to be made again
	passed  time.Duration // that names were used, without the mishaps between

	mu     sync.Mutex
	tokens map[string]uint64 // the last of some of the names
}

// Live lets a store have its day, a part of it before each mishap and one after the last, and measures it at both ends.
func Live(t testing.TB, s Store, p Plan) Result {
	began := time.Now()
	d := &day{t: t, store: s, plan: p, tokens: make(map[string]uint64)}
	d.reopen()
	r := Result{Store: s.Name(), Names: p.Names, Fresh: d.measure("fresh")}
	mishaps := s.Mishaps()
	d.pass(1 + len(mishaps))
	for _, m := range mishaps {
		t.Logf("%s: %s, after %d names", s.Name(), m.Name, d.used.Load())
		if m.Moves { // nobody writes to what is given up
			d.close()
		}
		end := m.Do(t)
		if m.Moves {
			d.reopen()
		}
		d.pass(1 + len(mishaps))
		end()
		d.check()
		r.Mishaps = append(r.Mishaps, m.Name)
	}
	d.check()
	r.Aged, r.Again, r.Took = d.measure("aged"), d.errors.Load(), time.Since(began)
	r.Rate = float64(d.used.Load()) / d.passed.Seconds()
	d.close()
	return r
}

func (d *day) close() {
	for _, c := range d.clients {
		c.Close()
	}
	d.clients = nil
}

func (d *day) reopen() {
	d.close()
	for range d.plan.Workers {
		d.clients = append(d.clients, d.store.Open(d.t))
	}
}

// pass lets one of so many parts of the day pass: each name is used once, and every second one of an earlier part
// again.
func (d *day) pass(parts int) {
	d.t.Helper()
	began := time.Now()
	first, n := d.used.Load(), int64(d.plan.Names/parts)
	var next atomic.Int64
	var all sync.WaitGroup
	for _, c := range d.clients {
		all.Go(func() {
			for i := next.Add(1) - 1; i < n && !d.t.Failed(); i = next.Add(1) - 1 {
				d.use(c, first+i)
				if earlier := first + i - n; i%2 == 1 && earlier >= 0 && earlier%killed != 0 {
					d.use(c, earlier)
				}
				if used := d.used.Add(1); used%int64(max(1, d.plan.Names/10)) == 0 {
					d.t.Logf("%s: %d of %d names", d.store.Name(), used, d.plan.Names)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	d.passed += took
	d.t.Logf("%s: %.0f names/s", d.store.Name(), float64(n)/took.Seconds())
}

func nameOf(i int64) string { return fmt.Sprintf("day/%08d", i) }

// use takes a lock and gives it back, unless its holder is one that is killed.
func (d *day) use(client *drivertest.Facade, i int64) {
	c := claim(nameOf(i), longTTL)
	if i%killed == 0 {
		c.TTL = max(shortTTL, client.Traits().MinTTL)
	}
	c.Token = d.take(client, c)
	if i%(killed/2) == 0 {
		d.note(c)
	}
	if i%killed == 0 {
		return
	}
	d.again("release", func(ctx context.Context) error { return client.Release(ctx, c) })
}

// take requests what must be free, and returns the token.
func (d *day) take(client *drivertest.Facade, c driver.Claim) (token uint64) {
	d.again("request "+c.Name, func(ctx context.Context) error {
		st, err := client.Request(ctx, c)
		if err == nil && !st.Granted {
			return errTaken
		}
		token = st.Token
		return err
	})
	return token
}

var errTaken = errors.New("it is taken by somebody else")

// note remembers a token, which must be greater than the one before.
func (d *day) note(c driver.Claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.tokens[c.Name]; c.Token <= last {
		d.t.Errorf("%s: token %d of %q after %d", d.store.Name(), c.Token, c.Name, last)
	}
	d.tokens[c.Name] = c.Token
}

// attempts is how often a request is made: a connection may have been lost with the server that it led to, or the
// holder was killed a moment ago.
const attempts = 100

// again makes a request until it is answered.
func (d *day) again(what string, f func(context.Context) error) {
	var err error
	for range attempts {
		ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
		err = f(ctx)
		cancel()
		if err == nil || errors.Is(err, driver.ErrGone) && what == "release" {
			return
		}
		d.errors.Add(1)
		driver.Sleep(d.t.Context(), 100*time.Millisecond)
	}
	d.t.Errorf("%s: %s: %v", d.store.Name(), what, err)
}

// check takes some of the locks once more: each is free, also those whose holders were killed, and its token has grown.
func (d *day) check() {
	d.t.Helper()
	d.mu.Lock()
	var names []string
	for name := range d.tokens {
		names = append(names, name)
	}
	d.mu.Unlock()
	slices.Sort(names)
	const most = 200
	step := max(1, len(names)/most)
	for i := 0; i < len(names); i += step {
		c := claim(names[i], longTTL)
		c.Token = d.take(d.clients[0], c)
		d.note(c)
		d.again("release", func(ctx context.Context) error { return d.clients[0].Release(ctx, c) })
	}
}

func claim(name string, ttl time.Duration) driver.Claim {
	return driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: ttl, Queue: false, Owner: "soak"}
}
