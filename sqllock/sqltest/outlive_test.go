//go:build linux

package sqltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// Before is what clients were told before a power failure.
type before struct {
	mu     sync.Mutex
	over   bool
	tokens map[string]uint64       // the greatest of each lock
	left   map[string]driver.Claim // left alone, by lock
	ended  map[string]driver.Claim // that were left alone, by ID
	values map[string]int          // by lock
}

func newBefore() *before {
	return &before{
		tokens: make(map[string]uint64), left: make(map[string]driver.Claim),
		ended: make(map[string]driver.Claim), values: make(map[string]int),
	}
}

// cycle takes a lock and gives it back, in between leaves it alone or sets its value, and notes what it is told.
func (b *before) cycle(d *drivertest.Facade, name string, leaves, sets bool) error {
	c := mutex(name)
	st, err := d.Request(context.Background(), c)
	if err != nil || !st.Granted {
		return fmt.Errorf("%s: %+v, %w", name, st, err)
	}
	c.Token = st.Token
	b.note(func() { b.tokens[name] = max(b.tokens[name], c.Token) })
	if sets {
		var n int
		b.note(func() { n = b.values[name] + 1 })
		v := driver.Value{Text: strconv.Itoa(n), Token: c.Token, Set: time.Now()}
		if err := d.SetValue(context.Background(), c, v); err != nil {
			return err
		}
		b.note(func() { b.values[name] = n })
	}
	if leaves {
		c.Detached = true
		if _, err := d.Request(context.Background(), c); err != nil {
			return err
		}
		b.note(func() { b.left[name] = c })
	}
	b.note(func() { delete(b.left, name) })
	if err := d.Release(context.Background(), c); err != nil {
		return err
	}
	if leaves {
		b.note(func() { b.ended[c.ID] = c })
	}
	return nil
}

// note notes what a client was told, or is about to do, unless the power has failed.
func (b *before) note(what func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		what()
	}
}

// check compares with what is left after a power failure. The clock of the machine stood still meanwhile, and shows an
// earlier time than before: in the bubble it is the year 2000.
func (b *before) check(t *testing.T, left string) {
	defer bubble.Alone()()
	d, err := driver.Open(t.Context(), fileURL(left)) // nobody subscribes: what follows claims must not end outside
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	synctest.Test(t, func(t *testing.T) {
		for name, token := range b.tokens {
			now := do(t, d, driver.Op{Kind: driver.OpRequest, Claim: mutex(name)}).Status
			if now.Token <= token {
				t.Errorf("%s: token %d after %d", name, now.Token, token)
			}
			held, leftAlone := b.left[name]
			queue := do(t, d, driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}}).Queue
			if first := queue[0]; leftAlone && (first.ID != held.ID || first.Token != held.Token || !first.Granted) {
				t.Errorf("%s: the queue is %+v; want the claim that was left alone, %+v", name, queue, held)
			}
			for _, e := range queue {
				if _, ended := b.ended[e.ID]; ended {
					t.Errorf("%s: a claim that ended is back: %+v", name, e)
				}
			}
		}
		for name, n := range b.values {
			v := do(t, d, driver.Op{Kind: driver.OpValue, Claim: driver.Claim{Name: name}}).Value
			if now, err := strconv.Atoi(v.Text); err != nil || now < n {
				t.Errorf("%s: the value is %q; want no older one than %d", name, v.Text, n)
			}
		}
	})
}

func do(t *testing.T, d driver.Driver, op driver.Op) (result driver.Result) {
	t.Helper()
	d.Do(t.Context(), []driver.Op{op}, func(_ int, r driver.Result) { result = r })
	if result.Err != nil {
		t.Errorf("%v of %s: %v", op.Kind, op.Claim.Name, result.Err)
	}
	return result
}

// A power failure may take grants, whose holders are gone. After it, no token is given out that was given out before,
// though the clock of the machine has lost its time.
func TestTokensOutliveAPowerFailure(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			path, b := newFile(t), newBefore()
			d := openOnPower(t, path)
			for i := range 40 { // SQLite empties its log after some more
				if err := b.cycle(d, fmt.Sprint("m", i%10), false, false); err != nil {
					t.Fatal(err)
				}
			}
			left := f.cut(t, path)
			if n := count(t, left, "SELECT count(*) FROM holdfast_fences"); f.kept == 0 && n == 10 {
				t.Error("all was on the disk, so the test shows nothing")
			}
			b.check(t, left)
		})
	}
}

// Nor if the power fails again in that boot, whose clock had lost its time already.
func TestTokensOutliveTwoPowerFailures(t *testing.T) {
	defer bubble.Alone()()
	path, b := newFile(t), newBefore()
	if err := b.cycle(openOnPower(t, path), "m", false, false); err != nil {
		t.Fatal(err)
	}
	left := failures[0].cut(t, path)
	d := driverOnPower(t, left)
	synctest.Test(t, func(t *testing.T) {
		for i := range 20 { // it takes the time of the boot to the disk after some more
			c := mutex(fmt.Sprint("m", i%10))
			b.tokens[c.Name] = do(t, d, driver.Op{Kind: driver.OpRequest, Claim: c}).Status.Token
			do(t, d, driver.Op{Kind: driver.OpRelease, Claim: c})
		}
	})
	b.check(t, failures[0].cut(t, left))
}

// Nor is one of a lock whose tokens are ahead of the clock, which was set back.
func TestTokensAheadOutliveAPowerFailure(t *testing.T) {
	path, b := newFile(t), newBefore()
	d := openOnPower(t, path)
	if err := b.cycle(d, "m", false, false); err != nil {
		t.Fatal(err)
	}
	year := time.Now().Add(365 * 24 * time.Hour).UnixMicro()
	change(t, path, "UPDATE holdfast_fences SET token = ?", year)
	if err := b.cycle(d, "m", false, false); err != nil {
		t.Fatal(err)
	}
	if ahead := b.tokens["m"]; ahead <= uint64(year) {
		t.Fatalf("token %d after %d", ahead, year)
	}
	b.check(t, failures[0].cut(t, path))
}

// A claim that was left alone is held after a power failure, and one that was given back is not; a value stays.
func TestWhatOutlivesAPowerFailure(t *testing.T) {
	ctx := t.Context()
	leave := func(t *testing.T, b *before, d *drivertest.Facade) driver.Claim {
		c := mutex("m")
		c.Detached = true
		c.Token = request(t, d, c, true).Token
		b.tokens["m"], b.left["m"] = c.Token, c
		return c
	}
	for name, change := range map[string]func(t *testing.T, b *before, d *drivertest.Facade) error{
		"a claim that is detached": func(t *testing.T, b *before, d *drivertest.Facade) error {
			leave(t, b, d)
			return nil
		},
		"a lease that is left alone": func(t *testing.T, b *before, d *drivertest.Facade) error {
			c := mutex("m")
			c.Token = request(t, d, c, true).Token
			c.Detached = true
			request(t, d, c, true)
			b.tokens["m"], b.left["m"] = c.Token, c
			return nil
		},
		"a release": func(t *testing.T, b *before, d *drivertest.Facade) error {
			c := leave(t, b, d)
			delete(b.left, "m")
			b.ended[c.ID] = c
			return d.Release(ctx, c)
		},
		"a break": func(t *testing.T, b *before, d *drivertest.Facade) error {
			c := leave(t, b, d)
			delete(b.left, "m")
			b.ended[c.ID] = c
			return d.Break(ctx, c.Name, c.ID)
		},
		"a value": func(t *testing.T, b *before, d *drivertest.Facade) error {
			c := mutex("m")
			c.Token = request(t, d, c, true).Token
			b.values["m"] = 1
			return d.SetValue(ctx, c, driver.Value{Text: "1", Token: c.Token, Set: time.Now()})
		},
	} {
		for _, f := range failures {
			t.Run(name+": "+f.name, func(t *testing.T) {
				path, b := newFile(t), newBefore()
				d := openOnPower(t, path)
				for range 20 { // the first sets the floor of tokens, and waits for the disk
					if err := b.cycle(d, "another", false, false); err != nil {
						t.Fatal(err)
					}
				}
				if err := change(t, b, d); err != nil {
					t.Fatal(err)
				}
				b.check(t, f.cut(t, path))
			})
		}
	}
}

// within waits until something happens.
func within(t *testing.T, happens <-chan struct{}) {
	t.Helper()
	select {
	case <-happens:
	case <-time.After(patience):
		t.Fatal("nothing happens")
	}
}

// Clients work when the power fails.
func TestPowerFailureAtWork(t *testing.T) {
	for i := range 6 {
		f := failures[i%len(failures)]
		t.Run(fmt.Sprint(i, ": ", f.name), func(t *testing.T) {
			path, b := newFile(t), newBefore()
			one, two := openOnPower(t, path), openOnPower(t, path)
			ctx, cancel := context.WithCancel(t.Context())
			var cycles atomic.Int64
			enough, fails := make(chan struct{}), 100+rand.Int64N(900)
			var all sync.WaitGroup
			for i := range 8 {
				d := []*drivertest.Facade{one, two}[i%2]
				all.Go(func() {
					for ctx.Err() == nil {
						name := fmt.Sprintf("m%d.%d", i, rand.N(4))
						if err := b.cycle(d, name, rand.N(8) == 0, rand.N(8) == 0); err != nil {
							t.Error(err)
							return
						}
						if cycles.Add(1) == fails {
							close(enough)
						}
					}
				})
			}
			within(t, enough)
			var left string
			b.note(func() { left, b.over = f.cut(t, path), true })
			cancel()
			all.Wait()
			b.check(t, left)
		})
	}
}
