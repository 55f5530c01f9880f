package proof

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// Run lets a schedule happen to a store, and returns what was seen.
func Run(t testing.TB, store *nemesis.Store, s Schedule) Record {
	t.Helper()
	watcher := open(t, store, s.TTL)
	record := Record{
		Schedule: s, Voted: store.Voted, Session: store.Session, Unruly: store.Unruly, Lists: store.Lists,
		Swept: store.Swept,
	}
	res := newResources(t)
	c := gather(t, store, s, res.socket, &record)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() { watchStalls(ctx, func(s Span) { c.note(Stall{nobody, s}) }) })
	if len(store.Files) > 0 {
		watching.Go(func() {
			disk := func(s Span) { c.note(Stall{nobody, s}) }
			if err := watchDisk(ctx, filepath.Dir(store.Files[0]), disk); err != nil {
				t.Errorf("look at the disk: %v", err)
			}
		})
	}
	numbers := newNumbers(t, store, s)
	began := now()
	c.until = began + s.Lasts
	for _, m := range c.members {
		c.begin(m)
	}
	record.Struck = (&executor{t: t, store: store, crowd: c, began: began}).follow(s)
	c.reading.Wait()
	record.Answers = c.answers()
	record.Left = left(t, watcher, &record) // others still note stalls in it
	record.Counted = numbers.read(t, s, record.Left)
	cancel()
	watching.Wait()
	record.Touches = res.all()
	record.since(began)
	return record
}

// open opens a client of the store that no blow befalls, as soon as the store lets it acquire locks.
func open(t testing.TB, store *nemesis.Store, ttl time.Duration) *holdfast.Client {
	t.Helper()
	client, err := holdfast.Open(t.Context(), store.URL(store.Addrs), holdfast.WithTTL(ttl))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(context.Background()) })
	nothing := func(context.Context, *holdfast.Lease) error { return nil }
	if err := client.Mutex("before").Do(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	return client
}

// An executor follows the blows of a schedule, in the goroutine of the test.
type executor struct {
	t     testing.TB
	store *nemesis.Store
	crowd *crowd
	began time.Duration
	open  []openBlow
	done  []Struck
}

// An openBlow has fallen, and ends at a time.
type openBlow struct {
	Struck
	due time.Duration // since the beginning
	end func()
}

// follow lets all blows fall and end, each at its time or as soon as those before let it, and returns them.
func (e *executor) follow(s Schedule) []Struck {
	for blows := s.Blows; len(blows) > 0 || len(e.open) > 0; {
		i := e.firstDue()
		if i >= 0 && (len(blows) == 0 || e.open[i].due <= blows[0].At) {
			e.sleepUntil(e.open[i].due)
			e.finish(i)
			continue
		}
		e.sleepUntil(blows[0].At)
		e.begin(blows[0])
		blows = blows[1:]
	}
	e.sleepUntil(s.Lasts)
	return e.done
}

// firstDue is the place of the open blow that ends first; -1 if none is open.
func (e *executor) firstDue() int {
	first := -1
	for i, b := range e.open {
		if first < 0 || b.due < e.open[first].due {
			first = i
		}
	}
	return first
}

func (e *executor) sleepUntil(at time.Duration) { time.Sleep(e.began + at - now()) }

// begin lets a blow fall, unless one of the same kind on the same target has not ended.
func (e *executor) begin(b Blow) {
	same := func(o openBlow) bool {
		return o.Target == b.Target && (b.Target == OnStore || o.Number == b.Number)
	}
	if slices.ContainsFunc(e.open, same) {
		return
	}
	struck := Struck{Blow: b, Span: Span{From: now()}}
	var end func()
	if b.Target == OnStore {
		f, ok := e.store.Fault(b.What)
		if !ok {
			e.t.Fatalf("%s knows no fault %q: %s", e.store.Name, b.What, e.store.Absent[b.What])
		}
		struck.Harm, struck.Young, struck.Anew = f.Harm, f.Young, f.Anew
		end = f.Begin(e.t)
	} else if end = e.crowd.strike(b); end == nil {
		return
	}
	struck.Fell = now()
	e.open = append(e.open, openBlow{struck, max(b.At, now()-e.began) + b.For, end})
}

func (e *executor) finish(i int) {
	b := e.open[i]
	e.open = slices.Delete(e.open, i, i+1)
	b.end()
	b.To = now()
	e.done = append(e.done, b.Struck)
}

// setBack reports whether a store's clock was.
func setBack(all []Struck) bool {
	return slices.ContainsFunc(all, func(s Struck) bool { return s.Target == OnStore && s.What == nemesis.ClockBack })
}

// left waits until nothing is left of any lock, for as long as claims that nobody renews may live, and returns what is
// left then. Where nothing can be listed, a lock that can be had is free. After a clock was set back it tries to get
// locks that are not free: that is what brings the deadlines of the dead back, as the docs say.
func left(t testing.TB, watcher *holdfast.Client, r *Record) map[string]string {
	s, asks := r.Schedule, setBack(r.Struck)
	rest := make(map[string]string)
	deadline := now() + 2*s.TTL + restTime
	for _, lock := range s.Locks() {
		if lock[0] == ownNames[Transact] {
			continue // it is no claim: see numbers
		}
		if lock[0] == ownNames[Hoard] || lock[0] == ownNames[Queue] {
			if names := leftOfMany(t, watcher, lock, s.TTL, deadline, asks); len(names) > 0 {
				rest[lock] = fmt.Sprintf("%d locks, such as %s", len(names), some(names))
			}
			continue
		}
		for {
			ctx, cancel := context.WithTimeout(t.Context(), s.TTL)
			queue, err := watcher.Queue(ctx, lock)
			cancel()
			if asks && r.Voted { // a place of the dead in a line is put right by who stands there next
				queue = slices.DeleteFunc(queue, func(e holdfast.Entry) bool { return !e.Granted })
			}
			if err == nil && len(queue) == 0 {
				break
			}
			unlisted := errors.Is(err, errors.ErrUnsupported)
			if (asks || unlisted) && try(t, watcher, lock, s.TTL) && unlisted {
				break
			}
			if now() > deadline {
				rest[lock] = fmt.Sprintf("%d claims: %v, error %v", len(queue), queue, err)
				break
			}
			time.Sleep(20 * time.Millisecond) // nobody tells when the last is gone
		}
	}
	return rest
}

// try reports whether it got a lock.
func try(t testing.TB, client *holdfast.Client, lock string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lease, err := acquire(ctx, client, Step{Verb: Try, Lock: lock, Units: limit(lock)})
	if err == nil {
		lease.Release(ctx) // what it leaves is found
	}
	return err == nil
}

// restTime is what a busy machine may need besides.
const restTime = 10 * time.Second

// since makes all times count from the beginning.
func (r *Record) since(began time.Duration) {
	for i := range r.Visits {
		v := &r.Visits[i]
		for _, at := range []*time.Duration{&v.Call, &v.Return, &v.Seen, &v.Leave, &v.Left} {
			*at = max(0, *at-began)
		}
	}
	for _, all := range [][]Breaking{r.Breaks, r.Revoked} {
		for i := range all {
			all[i].Call -= began
			all[i].Return -= began
		}
	}
	for i := range r.Struck {
		r.Struck[i].Fell -= began
		r.Struck[i].From -= began
		r.Struck[i].To -= began
	}
	for i := range r.Counts {
		r.Counts[i].Call -= began
		r.Counts[i].Return -= began
	}
	for i := range r.Many {
		r.Many[i].From -= began
		r.Many[i].To -= began
	}
	for i := range r.Ends {
		r.Ends[i].At -= began
	}
	for i := range r.Touches {
		r.Touches[i].At -= began
	}
	for i := range r.Stalls {
		r.Stalls[i].From -= began
		r.Stalls[i].To -= began
	}
}
