package drivertest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var traitsRows = []row{
	{
		name: "traits",
		why:  "traits are facts that never change while the driver is open",
		run: func(e *env) {
			if e.traits.Backend == "" {
				e.Error("the backend has no name, which messages need")
			}
			if e.traits.MinTTL < 0 || e.traits.MaxTTL < 0 || e.traits.MaxTTL > 0 && e.traits.MaxTTL < e.traits.MinTTL {
				e.Errorf("TTLs from %v to %v", e.traits.MinTTL, e.traits.MaxTTL)
			}
			e.acquire(e.d, e.claim())
			for _, d := range []*Facade{e.d, e.other} {
				if got := d.Traits(); got != e.traits {
					e.Errorf("the traits were\n\t%+v, and are\n\t%+v", e.traits, got)
				}
			}
		},
	},
	{
		name: "validate",
		why:  "what a driver cannot do is an error before anything is sent",
		run: func(e *env) {
			if err := driver.Validate(e.claim(), e.traits); err != nil {
				e.Errorf("an ordinary claim: %v", err)
			}
			if e.traits.MaxName > 0 {
				long := strings.Repeat("x", e.traits.MaxName+1)
				e.invalid(func(c *driver.Claim) { c.Name = long }, driver.ErrInvalidName)
			}
			if e.traits.MinTTL > 0 {
				e.invalid(func(c *driver.Claim) { c.TTL = e.traits.MinTTL - 1 }, nil)
			}
			if e.traits.MaxTTL > 0 {
				e.invalid(func(c *driver.Claim) { c.TTL = e.traits.MaxTTL + 1 }, nil)
			}
			if !e.traits.Weighted {
				e.invalid(func(c *driver.Claim) { c.Limit = 2 }, errors.ErrUnsupported)
			}
			if !e.traits.Detach {
				e.invalid(func(c *driver.Claim) { c.Detached = true }, errors.ErrUnsupported)
			}
		},
	},
	{
		name: "shortest TTL",
		why:  "a TTL of Traits.MinTTL works",
		run: func(e *env) {
			ttl, unsure := max(e.traits.MinTTL, 1), 0
			for range shortTries {
				st, took, err := e.shortest(ttl)
				if err == nil && st.Granted && st.TTL >= ttl {
					return
				}
				if err == nil && st.Granted { // it was sure of no more
					unsure++
					continue
				}
				if took < ttl/2 || e.quick(ttl/2) {
					e.Errorf("TTL %v was asked for: %+v, %v", ttl, st, err)
					return
				}
			}
			if unsure == shortTries {
				e.Errorf("TTL %v was asked for; each answer was sure of less", ttl)
			}
			e.Skipf("here half of a life of %v is over before any request is answered", ttl)
		},
		exact: true, // a bad line is slower than such a life is long
	},
	{
		name: "longest TTL",
		why:  "a TTL of Traits.MaxTTL works; without a bound, any that people use does",
		run: func(e *env) {
			c := e.claim()
			if c.TTL = e.traits.MaxTTL; c.TTL == 0 {
				c.TTL = 10 * 365 * 24 * time.Hour
			}
			st := e.acquireAll(c)
			e.enqueue(e.other, e.claim())
			e.release(e.d, c, st)
		},
	},
	{
		name: "what is missing says so",
		why:  "what a backend cannot do is an error that wraps errors.ErrUnsupported, never a quiet nothing",
		run: func(e *env) {
			ctx := context.Background()
			tell := map[string]struct {
				able bool
				err  func() error
			}{
				"Queue": {e.traits.Listed, func() error { _, err := e.d.Queue(ctx, e.name); return err }},
				"Break": {does(driver.OpBreak)(e.d), func() error { return e.d.Break(ctx, e.name, freshID()) }},
				"Revoke": {does(driver.OpRevoke)(e.d), func() error {
					return e.d.Revoke(ctx, e.name, freshID())
				}},
				"Value": {does(driver.OpValue)(e.d), func() error {
					_, err := e.d.Value(ctx, e.name)
					return err
				}},
				"SetValue": {does(driver.OpValue)(e.d), func() error {
					return e.d.SetValue(ctx, e.claim(), driver.Value{Text: "any"})
				}},
				"Notes": {notes(e.d), e.notesErr},
				"Check": {has[driver.Checker](e.d), func() error {
					_, err := driver.Check(ctx, e.d, false)
					return err
				}},
				"Propose": {does(driver.OpPropose)(e.d), func() error {
					_, _, err := e.d.Propose(ctx, e.claim(), 1)
					return err
				}},
				"List": {has[driver.Lister](e.d), func() error {
					for _, err := range driver.List(ctx, e.d, e.name) {
						return err
					}
					return nil
				}},
			}
			for name, ability := range tell {
				if err := ability.err(); errors.Is(err, errors.ErrUnsupported) == ability.able {
					e.Errorf("%s: offered: %v, error: %v", name, ability.able, err)
				}
			}
		},
		exact: true,
	},
	{
		name: "detached",
		why:  "a detached claim lives by its TTL alone, even after the client that made it is gone",
		run: func(e *env) {
			gone, c, st := e.detach()
			e.staysTaken(gone, c, st)
		},
		needs: detaches,
		exact: true,
	},
	{
		name: "a renewal detaches",
		why:  "a claim may be left alone by a renewal, too, and outlives its client from then on",
		run: func(e *env) {
			gone := NewFacade(e.h.Open(e.T))
			c := e.claim()
			st := e.acquire(gone, c)
			c.Detached = true
			e.acquire(gone, renewal(c, st))
			e.staysTaken(gone, c, st)
		},
		needs: detaches,
		exact: true,
	},
	{
		name: "a detached claim goes on elsewhere",
		why:  "scripts acquire in one process, and renew and release in others",
		run: func(e *env) {
			gone, c, st := e.detach()
			e.close(gone)
			if again := e.acquire(e.other, renewal(c, st)); again.Token != st.Token {
				e.Errorf("renewed elsewhere, the token is %d, was %d", again.Token, st.Token)
			}
			e.enqueue(e.d, e.try())
			e.release(e.other, c, st)
			e.acquire(e.d, e.try())
		},
		needs: detaches,
		exact: true,
	},
	{
		name: "an older request of a detached claim",
		why:  "a request that was sent before the claim was left alone may come after that, and must not end it early",
		run: func(e *env) {
			gone := NewFacade(e.h.Open(e.T))
			c := e.short(e.claim())
			st := e.acquire(gone, c)
			left := renewal(c, st)
			left.TTL, left.Detached = e.longTTL(), true
			e.acquire(gone, left)
			e.changesNothing(gone, c, st)
			e.changesNothing(gone, renewal(c, st), st)
			e.changesNothing(e.other, renewal(c, st), st)
			e.close(gone)
			e.pass(2 * c.TTL)
			e.enqueue(e.other, e.try())
			e.release(e.d, left, st)
		},
		needs: detaches,
		exact: true,
	},
	{
		name: "an older request of a claim that was left alone for a short time",
		why: "a request that was sent before the claim was left alone would take the lock for nobody, " +
			"for longer than was asked for",
		run: func(e *env) {
			c, st := e.hold(e.claim())
			left := e.shorten(e.d, c, st)
			for _, got := range []driver.Status{
				e.changesNothing(e.d, c, st),
				e.changesNothing(e.d, renewal(c, st), st),
				e.changesNothing(e.other, renewal(c, st), st),
			} {
				if got.TTL > left.TTL {
					e.Errorf("an older request says that the claim lives for %v; it was left alone for %v",
						got.TTL, left.TTL)
				}
			}
			e.eventually("the claim expires", func() bool { return e.free() })
		},
		needs: detaches,
		exact: true,
	},
	{
		name: "a detached claim is renewed",
		why: "who goes on with a detached claim renews it as such, as often as it likes, " +
			"and others' older requests do not disturb",
		run: func(e *env) {
			c, st := e.hold(e.short(e.claim()))
			left := renewal(c, st)
			left.Detached = true
			e.acquire(e.d, left)
			sent := time.Now()
			for range 8 {
				e.pass(st.TTL / 4)
				lapses := sent.Add(st.TTL * 3 / 4)
				sent = time.Now()
				got, err := e.ask(e.other, left)
				if err != nil || !got.Granted || got.Token != st.Token {
					e.Excuse(lapses)
					e.Fatalf("renewed with %+v, error %v; want token %d", got, err, st.Token)
				}
				e.ask(e.d, c) // its answer, if there is one, is nobody's
			}
			e.enqueue(e.d, e.try())
		},
		needs: detaches,
		exact: true,
	},
}

// detach acquires a claim that is detached, by a client of its own.
func (e *env) detach() (gone *Facade, c driver.Claim, st driver.Status) {
	e.Helper()
	gone, c = NewFacade(e.h.Open(e.T)), e.claim()
	c.Detached = true
	return gone, c, e.acquire(gone, c)
}

// close closes a client.
func (e *env) close(d *Facade) {
	e.Helper()
	if err := d.Close(); err != nil {
		e.Errorf("Close: %v", err)
	}
}

// staysTaken closes the client of a granted claim, which has the lock all the same until another client releases it.
func (e *env) staysTaken(gone *Facade, c driver.Claim, st driver.Status) {
	e.Helper()
	e.close(gone)
	e.enqueue(e.other, e.try())
	e.release(e.d, c, st)
}

// shortTries is how often the shortest TTL is asked for.
const shortTries = 5

// shortest acquires a lock for so long, and says how long that took.
func (e *env) shortest(ttl time.Duration) (driver.Status, time.Duration, error) {
	e.Helper()
	one := e.with(freshName())
	c := one.claim()
	c.TTL = ttl
	began := time.Now()
	st, err := one.ask(e.d, c)
	return st, time.Since(began), err
}

// quick reports whether a lock can be acquired for long within d.
func (e *env) quick(d time.Duration) bool {
	e.Helper()
	one := e.with(freshName())
	began := time.Now()
	one.acquire(e.d, one.claim())
	return time.Since(began) < d
}

// changesNothing sends, by itself and in a batch, a request that is older than the one that left its claim alone.
func (e *env) changesNothing(d *Facade, older driver.Claim, st driver.Status) driver.Status {
	e.Helper()
	got, err := e.ask(d, older)
	if err != nil || !got.Granted || got.Token != st.Token {
		e.Excuse(e.lapses)
		e.Errorf("an older request got %+v, error %v; want token %d", got, err, st.Token)
	}
	batch, err := d.Renew(context.Background(), []driver.Claim{older})
	if err != nil || batch[0].Err != nil || batch[0].Status.Token != st.Token {
		e.Excuse(e.lapses)
		e.Errorf("an older renewal got %+v, error %v; want token %d", batch, err, st.Token)
	}
	if does(driver.OpPropose)(d) {
		older.Token = 0
		got, _, err := d.Propose(context.Background(), older, st.Token)
		if err != nil || !got.Granted || got.Token != st.Token {
			e.Excuse(e.lapses)
			e.Errorf("an older proposal got %+v, error %v; want token %d", got, err, st.Token)
		}
	}
	return got
}

// invalid fails unless Validate refuses a claim that was changed like this, with an error that wraps want.
func (e *env) invalid(change func(*driver.Claim), want error) {
	e.Helper()
	c := e.claim()
	change(&c)
	if err := driver.Validate(c, e.traits); err == nil || want != nil && !errors.Is(err, want) {
		e.Errorf("%+v: got error %v, want one that wraps %v", c, err, want)
	}
}
