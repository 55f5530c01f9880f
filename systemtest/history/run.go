package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A Run is a crowd of visitors to one lock.
type Run struct {
	Clients []*holdfast.Client // one for each visitor; each may have a line of its own that fails
	Name    string
	Limit   int64         // units of the lock
	Voted   bool          // see [History]
	Units   []int64       // that visitors ask for, drawn with equal chances
	TTL     time.Duration // of the clients' locks
	For     time.Duration // how long visitors come
	Seed    uint64        // of what they draw; the faults and the machine draw too

	Careless bool // they stay without looking at their leases, so that the judges must find fault with them
}

// Record lets the visitors come and go, and returns what they saw.
func (r Run) Record(ctx context.Context) History {
	begin := time.Now()
	over, cancel := context.WithTimeout(ctx, r.For)
	defer cancel()
	var (
		mu sync.Mutex
		wg sync.WaitGroup
		h  = History{Limit: r.Limit, Voted: r.Voted}
	)
	for i, c := range r.Clients {
		v := &visitor{run: &r, number: i, client: c, begin: begin, rand: rand.New(rand.NewPCG(r.Seed, uint64(i)))}
		wg.Go(func() {
			for over.Err() == nil {
				visit := v.visit(ctx)
				mu.Lock()
				h.Visits = append(h.Visits, visit)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return h
}

// A visitor comes again and again.
type visitor struct {
	run    *Run
	number int
	client *holdfast.Client
	begin  time.Time
	rand   *rand.Rand
}

func (v *visitor) now() time.Duration { return time.Since(v.begin) }

// visit is one attempt, with what follows when it succeeds.
func (v *visitor) visit(ctx context.Context) Visit {
	r := v.run
	visit := Visit{Visitor: v.number, Units: r.Units[v.rand.IntN(len(r.Units))], Try: v.rand.IntN(4) == 0, TTL: r.TTL}
	lock := v.client.Semaphore(r.Name, r.Limit)
	acquire := lock.Acquire
	if visit.Try {
		acquire = lock.TryAcquire
	}
	waiting, cancel := context.WithTimeout(ctx, v.upTo(2*r.TTL))
	defer cancel()
	visit.Call = v.now()
	lease, err := acquire(waiting, visit.Units)
	visit.Return = v.now()
	if visit.Outcome = outcome(err, waiting); err == nil {
		visit.Token = lease.Token()
		v.stay(lease, &visit)
		v.leave(ctx, lease, &visit)
	}
	return visit
}

// upTo draws a duration.
func (v *visitor) upTo(d time.Duration) time.Duration { return time.Duration(v.rand.Int64N(int64(d))) }

func outcome(err error, waiting context.Context) Outcome {
	switch {
	case err == nil:
		return Got
	case !errors.Is(err, holdfast.ErrNotAcquired):
		return Unknown
	case waiting.Err() != nil:
		return GaveUp
	default:
		return Taken
	}
}

// stay looks at the lease for a while, mostly for a moment, at times for as long as a cut line takes to cost the lock.
func (v *visitor) stay(lease *holdfast.Lease, visit *Visit) {
	until := v.now() + v.upTo(v.run.TTL/50)
	if v.run.Careless || v.rand.IntN(8) == 0 {
		until += v.upTo(2 * v.run.TTL)
	}
	for looked := v.now(); v.run.Careless || lease.Err() == nil; looked = v.now() {
		if visit.Seen = looked; looked > until {
			return
		}
		time.Sleep(time.Millisecond) // what a section does
	}
}

func (v *visitor) leave(ctx context.Context, lease *holdfast.Lease, visit *Visit) {
	ctx, cancel := context.WithTimeout(ctx, v.run.TTL/4)
	defer cancel()
	visit.Leave = v.now()
	err := lease.Release(ctx)
	visit.Left = v.now()
	switch {
	case err == nil:
		visit.Ended = Released
	case errors.Is(err, holdfast.ErrLost):
		visit.Ended = Lost
	default:
		visit.Ended = Unclear
	}
}
