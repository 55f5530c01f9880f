package driver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A plain driver has no abilities. It answers each Request with the claim's token.
type plain struct{ requests chan driver.Claim }

var errRefusedID = errors.New("refused ID")

func (p plain) Request(_ context.Context, c driver.Claim) (driver.Status, error) {
	if p.requests != nil {
		p.requests <- c
	}
	if c.ID == "refused" {
		return driver.Status{}, errRefusedID
	}
	return driver.Status{Token: c.Token}, nil
}
func (plain) Release(context.Context, driver.Claim) error { return nil }
func (p plain) Queue(context.Context, string) ([]driver.Entry, error) {
	return nil, driver.Unsupported(p.Traits(), "queue")
}
func (plain) Traits() driver.Traits { return driver.Traits{Backend: "plain"} }
func (plain) Close() error          { return nil }

// A breaker can break, and says which one it is by its error.
type breaker struct {
	driver.Driver
	err error
}

func (b breaker) Break(context.Context, string, string) error { return b.err }

// A wrapper can be looked into, and has no abilities.
type wrapper struct{ driver.Driver }

func (w wrapper) Unwrap() driver.Driver { return w.Driver }

// An opaque driver hides what it wraps.
type opaque struct{ driver.Driver }

func TestAs(t *testing.T) {
	inner, outer := errors.New("inner"), errors.New("outer")
	for _, tt := range []struct {
		name string
		d    driver.Driver
		want error
	}{
		{"none", plain{}, errors.ErrUnsupported},
		{"no driver at all", wrapper{}, nil},
		{"its own", breaker{plain{}, inner}, inner},
		{"through a wrapper", wrapper{breaker{plain{}, inner}}, inner},
		{"through many", wrapper{wrapper{wrapper{breaker{plain{}, inner}}}}, inner},
		{"the outermost wins", wrapper{breaker{wrapper{breaker{plain{}, inner}}, outer}}, outer},
		{"not through what hides it", wrapper{opaque{breaker{plain{}, inner}}}, errors.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				if _, ok := driver.As[driver.Breaker](tt.d); ok {
					t.Error("found an ability in nothing")
				}
				return
			}
			if err := driver.Break(t.Context(), tt.d, "m", "id"); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

// What a driver does not offer is an error that names it, and not a panic or a quiet nothing.
func TestUnsupported(t *testing.T) {
	ctx, d := t.Context(), plain{}
	list := func() error {
		for _, err := range driver.List(ctx, d, "") {
			return err
		}
		return nil
	}
	_, errPropose := driver.Propose(ctx, d, driver.Claim{}, 1)
	_, errCheck := driver.Check(ctx, d)
	for what, err := range map[string]error{
		"Break": driver.Break(ctx, d, "m", "id"), "Revoke": driver.Revoke(ctx, d, "m", "id"),
		"List": list(), "Propose": errPropose, "Check": errCheck,
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got error %v, want one that wraps ErrUnsupported", what, err)
		}
	}
}

// Without a Renewer, each claim is requested by itself, and the answers keep the order of the claims.
func TestRenewOneByOne(t *testing.T) {
	claims := make([]driver.Claim, 100)
	for i := range claims {
		claims[i] = driver.Claim{ID: "fine", Token: uint64(i)}
	}
	claims[42].ID = "refused"
	results, err := driver.Renew(t.Context(), plain{}, claims)
	if err != nil || len(results) != len(claims) {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	for i, r := range results {
		if i == 42 {
			if r.Err != errRefusedID {
				t.Errorf("claim 42: got error %v, want %v", r.Err, errRefusedID)
			}
		} else if r.Err != nil || r.Status.Token != uint64(i) {
			t.Errorf("claim %d has the answer %+v", i, r)
		}
	}
}

// Without a Renewer, a few requests are under way at a time, however large the batch is.
func TestRenewIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := plain{requests: make(chan driver.Claim)}
		done := make(chan struct{})
		go func() {
			driver.Renew(t.Context(), d, make([]driver.Claim, 100))
			close(done)
		}()
		for answered := 0; answered < 100; answered++ {
			synctest.Wait()
			<-d.requests
		}
		<-done
	})
}

// A hanging driver does not answer about some claims.
type hanging struct{ plain }

func (d hanging) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if c.ID == "hangs" {
		<-ctx.Done()
		return driver.Status{}, ctx.Err()
	}
	st, _ := d.plain.Request(ctx, c)
	return st, ctx.Err()
}

// Without a Renewer, a request that hangs holds up no other one while a few may be under way.
func TestRenewBesideWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		claims := make([]driver.Claim, 100)
		for i := range 7 {
			claims[i].ID = "hangs"
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results, err := driver.Renew(ctx, hanging{}, claims)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if hangs := i < 7; hangs != errors.Is(r.Err, context.DeadlineExceeded) {
				t.Errorf("claim %d: error %v", i, r.Err)
			}
		}
	})
}

// Without a Waiter, Wait pauses for far less than the TTL and then says "ask again".
func TestWaitPauses(t *testing.T) {
	for _, ttl := range []time.Duration{time.Millisecond, time.Second, 15 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			st, err := driver.Wait(t.Context(), plain{}, driver.Claim{TTL: ttl})
			if err != nil || st != (driver.Status{}) {
				t.Errorf("got %+v, %v", st, err)
			}
			most := min(500*time.Millisecond, max(ttl/10, 10*time.Millisecond))
			if took := time.Since(began); took < 5*time.Millisecond || took > most {
				t.Errorf("TTL %v: paused for %v", ttl, took)
			}
		})
	}
}

// Sleep ends with its context, and leaves no timer behind.
func TestSleepEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		for what, pause := range map[string]func() error{
			"Sleep": func() error { return driver.Sleep(ctx, time.Hour) },
			"Wait":  func() error { _, err := driver.Wait(ctx, plain{}, driver.Claim{TTL: time.Hour}); return err },
			"Watch": func() error { return driver.Watch(ctx, plain{}, "m") },
		} {
			var err error
			for err == nil {
				err = pause()
			}
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s ended after %v with %v", what, time.Since(began), err)
			}
		}
	})
}
