package holdfast

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A wire is a client's way to the store. Its faults are those of a network: what was sent may arrive late, or twice,
// although its sender has given up.
type wire struct {
	world  *world
	number int // of the client
	store  driver.Driver
	dead   chan struct{}

	mu     sync.Mutex
	pushed time.Time // the last that was pushed arrives then
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

// An answer is what the store says to the operations of a message.
type answer []driver.Result

func (a answer) String() string {
	said := make([]string, len(a))
	for i, r := range a {
		if said[i] = fmt.Sprintf("%+v", r.Status); r.Err != nil {
			said[i] = r.Err.Error()
		}
	}
	return strings.Join(said, ", ")
}

// Do implements [driver.Driver]. Renewals of a batch travel in one message, and what else is in it by itself.
func (w *wire) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	var messages sync.WaitGroup
	for _, places := range together(ops) {
		messages.Go(func() {
			message := make([]driver.Op, len(places))
			for k, i := range places {
				message[k] = ops[i]
			}
			results, err := w.send(ctx, message)
			for k, i := range places {
				if err != nil {
					done(i, driver.Result{Err: err})
				} else {
					done(i, results[k])
				}
			}
		})
	}
	messages.Wait()
}

// together are the places of operations that travel in one message.
func together(ops []driver.Op) (messages [][]int) {
	var renewals []int
	for i, op := range ops {
		if op.Brief {
			renewals = append(renewals, i)
		} else {
			messages = append(messages, []int{i})
		}
	}
	if len(renewals) > 0 {
		messages = append(messages, renewals)
	}
	return messages
}

// send sends a message over the wire.
func (w *wire) send(ctx context.Context, ops []driver.Op) (answer, error) {
	method := ops[0].Kind.String()
	if ops[0].Brief {
		method = "renew"
	}
	f := w.fate(method, ops[0].Claim.Token)
	replies := make(chan answer, 1)
	who, what := fmt.Sprintf("wire %d", w.number), method+words(ops...)
	deliver := func(after time.Duration, how string) (a answer) {
		if w.pause(after) {
			w.world.server(func() { a = w.apply(ops) })
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

func receive(ctx context.Context, w *wire, replies <-chan answer, broken <-chan time.Time) (answer, error) {
	select {
	case a := <-replies:
		if a == nil { // the run was over before it came
			return nil, driver.ErrGone
		}
		return a, nil
	case <-broken:
		return nil, errBroken
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.dead:
		return nil, driver.ErrGone
	}
}

// apply has the store do operations, whatever has become of their sender.
func (w *wire) apply(ops []driver.Op) answer {
	a := make(answer, len(ops))
	for _, op := range ops {
		switch op.Kind {
		case driver.OpRelease:
			w.world.judge.releases(op.Claim.ID)
		case driver.OpBreak:
			w.world.judge.breaks(op.Claim.ID)
		}
	}
	w.store.Do(context.Background(), ops, func(i int, r driver.Result) { a[i] = r })
	return a
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

// Subscribe implements [driver.Driver]. What is pushed while the line is down is lost. The rest arrives in order.
func (w *wire) Subscribe(tell func(driver.Event)) (stop func()) {
	return w.store.Subscribe(func(e driver.Event) {
		who, what := fmt.Sprintf("wire %d", w.number), fmt.Sprintf("%s %s: %+v, %v", e.Name, e.ID, e.Status, e.Err)
		f := w.fate("push", e.Status.Token)
		if f.lost || f.mute || f.broken {
			w.world.history.note(who, "push to %s is lost", what)
			return
		}
		time.AfterFunc(w.inOrder(f.there+f.back), func() {
			w.world.history.note(who, "push to %s", what)
			tell(e)
		})
	})
}

// inOrder is when something is pushed that would arrive after d, so that it comes after what was pushed before.
func (w *wire) inOrder(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.pushed = later(now.Add(d), w.pushed.Add(1))
	return w.pushed.Sub(now)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (w *wire) Traits() driver.Traits { return w.store.Traits() }

func (w *wire) Close() error { return nil }

// words are what matters of the claims of operations.
func words(ops ...driver.Op) (s string) {
	for _, op := range ops {
		c := op.Claim
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
