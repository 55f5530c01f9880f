package holdfast

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A wire is a client's way to the store. Its faults are those of a network: what was sent may arrive late, or twice,
// although its sender has given up.
type wire struct {
	world  *world
	number int // of the client
	dead   chan struct{}
}

// A fate is what becomes of one request.
type fate struct {
	lost   bool          // it does not arrive
	mute   bool          // its answer does not come back
	there  time.Duration // until it arrives
	back   time.Duration // and its answer
	again  time.Duration // until a copy arrives; zero: there is none
	broken bool          // the sender learns at once that no answer will come
}

// late is the part of the TTL by which a request comes late at most. Backends remember claims that ended for a TTL.
const late = 2

// fate tells what becomes of a request that is sent now.
func (w *wire) fate(method string, token uint64) fate {
	since, r := w.world.history.since(), w.world.randomAt(w.number, method, token)
	f := fate{there: upTo(r, 3*time.Millisecond), back: upTo(r, 3*time.Millisecond)}
	for _, fault := range w.world.plan.faults {
		if left := fault.from + fault.lasts - since; fault.client == w.number && since >= fault.from && left > 0 {
			f.suffer(fault.kind, left, w.world.plan.ttl, r)
		}
	}
	return f
}

func (f *fate) suffer(kind string, left, ttl time.Duration, r *rand.Rand) {
	switch kind {
	case "cut":
		f.lost = true
	case "mute":
		f.mute = true
	case "held":
		f.there, f.mute = min(left, ttl/late)+upTo(r, ttl/100), true
	case "late":
		f.there += upTo(r, ttl/4)
	case "slow":
		f.back += upTo(r, ttl/4)
	case "lose":
		f.broken = f.broken || oneIn(r, 2)
	case "refuse":
		f.broken, f.lost = true, true
	case "twice":
		f.again = upTo(r, ttl/late) + 1
	}
}

// randomAt draws by what is asked and when, so that a seed draws alike in whatever order goroutines run at one instant.
func (w *world) randomAt(number int, what string, token uint64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, w.plan.seed, number, what, token)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(w.history.since())))
}

func init() {
	jitter = func(d time.Duration) time.Duration {
		return upTo(rand.New(rand.NewPCG(uint64(d), uint64(time.Now().UnixNano()))), d)
	}
}

// errBroken is what the sender learns of a connection that broke.
var errBroken = errors.New("connection reset by peer")

// An answer is what the store says.
type answer[T any] struct {
	value T
	err   error
}

func (a answer[T]) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%+v", a.value)
}

// send sends a request about a claim, or about some, over the wire.
func send[T any](
	ctx context.Context, w *wire, method string, apply func() (T, error), about ...driver.Claim,
) (T, error) {
	f := w.fate(method, about[0].Token)
	replies := make(chan answer[T], 1)
	who, what := fmt.Sprintf("wire %d", w.number), method+words(about...)
	deliver := func(after time.Duration, how string) (a answer[T]) {
		if w.pause(after) {
			w.world.server(func() { a.value, a.err = apply() })
			w.world.history.note(who, "%s%s: %v", what, how, a)
		}
		return a
	}
	var broken <-chan time.Time
	switch {
	case f.lost && f.broken:
		broken = time.After(f.there)
		w.world.history.note(who, "%s finds the connection broken", what)
	case f.lost:
		w.world.history.note(who, "%s is lost", what)
	case f.mute:
		go deliver(f.there, ", whose answer is lost")
	case f.broken:
		broken = time.After(f.there + f.back)
		go deliver(f.there, ", whose connection breaks")
	default:
		go func() {
			a := deliver(f.there, "")
			w.pause(f.back)
			replies <- a
		}()
	}
	if f.again > 0 && !f.lost {
		go deliver(f.there+f.again, ", a copy")
	}
	return receive(ctx, w, replies, broken)
}

func receive[T any](
	ctx context.Context, w *wire, replies <-chan answer[T], broken <-chan time.Time,
) (none T, err error) {
	select {
	case a := <-replies:
		return a.value, a.err
	case <-broken:
		return none, errBroken
	case <-ctx.Done():
		return none, ctx.Err()
	case <-w.dead:
		return none, driver.ErrGone
	}
}

// pause is false when the run is over before.
func (w *wire) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.dead:
		return false
	}
}

type nothing struct{}

func (w *wire) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return send(ctx, w, "request", func() (driver.Status, error) {
		return w.world.store.Request(context.Background(), c)
	}, c)
}

func (w *wire) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	return send(ctx, w, "renew", func() ([]driver.Result, error) {
		return w.world.store.Renew(context.Background(), claims)
	}, claims...)
}

func (w *wire) Release(ctx context.Context, c driver.Claim) error {
	_, err := send(ctx, w, "release", func() (nothing, error) {
		w.world.judge.releases(c.ID)
		return nothing{}, w.world.store.Release(context.Background(), c)
	}, c)
	return err
}

func (w *wire) Break(ctx context.Context, name, id string) error {
	_, err := send(ctx, w, "break", func() (nothing, error) {
		w.world.judge.breaks(id)
		return nothing{}, w.world.store.Break(context.Background(), name, id)
	}, driver.Claim{Name: name, ID: id})
	return err
}

func (w *wire) Revoke(ctx context.Context, name, id string) error {
	_, err := send(ctx, w, "revoke", func() (nothing, error) {
		return nothing{}, w.world.store.Revoke(context.Background(), name, id)
	}, driver.Claim{Name: name, ID: id})
	return err
}

func (w *wire) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return send(ctx, w, "queue", func() ([]driver.Entry, error) {
		return w.world.store.Queue(context.Background(), name)
	}, driver.Claim{Name: name})
}

// Wait is the way of pushes: what is pushed while the line is down is lost.
func (w *wire) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := w.world.store.Wait(ctx, c)
	if ctx.Err() != nil {
		return driver.Status{}, ctx.Err()
	}
	a := answer[driver.Status]{st, err}
	f := w.fate("push", c.Token)
	if f.lost || f.mute || f.broken {
		w.world.history.note(fmt.Sprintf("wire %d", w.number), "push to%s is lost: %v", words(c), a)
		return receive[driver.Status](ctx, w, nil, nil)
	}
	if err := driver.Sleep(ctx, f.there+f.back); err != nil {
		return driver.Status{}, err
	}
	w.world.history.note(fmt.Sprintf("wire %d", w.number), "push to%s: %v", words(c), a)
	return st, err
}

func (w *wire) Traits() driver.Traits { return w.world.store.Traits() }

func (w *wire) Close() error { return nil }

// words are what matters of claims.
func words(claims ...driver.Claim) (s string) {
	for _, c := range claims {
		s += " " + c.Name + " " + c.ID
		if c.Token != 0 {
			s += fmt.Sprintf(" under %d", c.Token)
		}
		if c.Detached {
			s += fmt.Sprintf(" left alone for %v", c.TTL)
		}
	}
	return s
}
