package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// Many is what one process saw that had many claims at once.
type Many struct {
	Visitor int
	Lock    string
	Held    int // locks
	Waited  int // for one lock, which the process held
	Lost    int // of those held
	Beside  int // so many of those that waited were let in beside the holder
	TTL     time.Duration
	Span    // from before the first was asked for until it looked
}

// atOnce is how many requests of one process are under way while it acquires many locks.
const atOnce = 64

// many does a step with many claims, in the process that is there for it. One that dies releases nothing.
func (v *visitor) many(s Step) {
	defer v.watchStalls()()
	if !v.open() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Within)
	defer cancel()
	if s.Verb == Hoard {
		v.hoard(ctx, s)
	} else {
		v.queue(ctx, s)
	}
	if s.Dies {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	ending, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	_ = v.client.Close(ending) // which releases all
}

// lengthening is part of the names of a hoard: it is by their bytes that a server may have too much of them.
var lengthening = strings.Repeat("long", 30)

// hoard acquires as many locks as it can, and keeps them for a while.
func (v *visitor) hoard(ctx context.Context, s Step) {
	m := Many{Visitor: v.Visitor, Lock: s.Lock, TTL: v.TTL, Span: Span{From: now()}}
	var mu sync.Mutex
	var leases holdfast.Leases
	names := make(chan string)
	var acquiring sync.WaitGroup
	for range atOnce {
		acquiring.Go(func() {
			for name := range names {
				if lease, err := v.client.Mutex(name).Lock(ctx); err == nil {
					mu.Lock()
					leases = append(leases, lease)
					mu.Unlock()
				}
			}
		})
	}
	for i := 0; i < s.Many && ctx.Err() == nil; i++ {
		names <- fmt.Sprintf("%s.%d.%d.%s", s.Lock, v.Visitor, i, lengthening)
	}
	close(names)
	acquiring.Wait()
	m.Held = len(leases)
	time.Sleep(s.Stays) // what a holder does
	m.look(leases)
	v.tell(told{Many: &m})
}

// look counts what was lost.
func (m *Many) look(leases holdfast.Leases) {
	for _, lease := range leases {
		if lease.Err() != nil {
			m.Lost++
		}
	}
	m.To = now()
}

// queue has many wait for a lock that the process holds. None of them should get it.
func (v *visitor) queue(ctx context.Context, s Step) {
	m := Many{Visitor: v.Visitor, Lock: s.Lock, Held: 1, Waited: s.Many, TTL: v.TTL, Span: Span{From: now()}}
	name := fmt.Sprintf("%s.%d", s.Lock, v.Visitor)
	lock := v.client.Semaphore(name, limit(s.Lock))
	lease, err := lock.Acquire(ctx, limit(s.Lock))
	if err != nil {
		return
	}
	waiting, cancel := context.WithTimeout(lease.Context(), s.Stays)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range s.Many {
		all.Go(func() {
			inner, err := lock.Acquire(holdfast.WithoutLease(waiting), 1)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if lease.Err() == nil {
				m.Beside++
			}
			_ = inner.Release(context.WithoutCancel(waiting))
		})
	}
	all.Wait()
	m.look(holdfast.Leases{lease})
	v.tell(told{Many: &m})
}

// keptMany finds locks that were lost without a reason among many.
func (r Record) keptMany() (wrongs []Wrong) {
	for _, m := range r.Many {
		if m.Lost > 0 && !r.disturbed(m.visit(), m.Span, nemesis.Outage) {
			text := fmt.Sprintf("visitor %d lost %d of %d locks without a reason, from %v to %v; %d waited",
				m.Visitor, m.Lost, m.Held, m.From, m.To, m.Waited)
			wrongs = append(wrongs, Wrong{Lock: m.Lock, Text: text})
		}
	}
	return wrongs
}

// besides finds those that were let in beside a holder, which the loss of its line does not excuse: it was told.
func (r Record) besides() (wrongs []Wrong) {
	for _, m := range r.Many {
		if m.Beside > 0 && !slices.ContainsFunc(r.Struck, m.isForgotten) {
			text := fmt.Sprintf("%d were let in beside the holder, visitor %d, from %v to %v", m.Beside, m.Visitor,
				m.From, m.To)
			wrongs = append(wrongs, Wrong{Lock: m.Lock, Text: text})
		}
	}
	return wrongs
}

// isForgotten reports whether what struck a store may have cost it the claims.
func (m Many) isForgotten(s Struck) bool {
	return s.Target == OnStore && s.Harm == nemesis.Amnesia && s.wider(m.TTL).overlaps(m.Span)
}

// visit stands for what could disturb it.
func (m Many) visit() history.Visit { return history.Visit{Visitor: m.Visitor, TTL: m.TTL} }

// leftOfMany is how many names are left that steps with many claims have used, after so long at most. Not every store
// can list them. After a clock was set back (asks), it tries to get those that there are, once, as left does.
func leftOfMany(
	t testing.TB, watcher *holdfast.Client, prefix string, ttl, deadline time.Duration, asks bool,
) (names []string) {
	for {
		names = nil
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), max(deadline-now(), ttl))
		for name, e := range watcher.Names(ctx, prefix+".") {
			if err = e; e == nil {
				names = append(names, name)
			}
		}
		cancel()
		switch {
		case err == nil && len(names) == 0, errors.Is(err, errors.ErrUnsupported):
			return nil
		case now() > deadline && err != nil:
			return []string{err.Error()}
		case now() > deadline:
			return names
		}
		if asks && err == nil {
			for _, name := range names {
				try(t, watcher, name, ttl)
			}
			asks, deadline = false, max(deadline, now()+2*ttl)
		}
		time.Sleep(100 * time.Millisecond) // nobody tells when the last is gone
	}
}

// some shortens a list for people.
func some(names []string) string {
	return strings.Join(names[:min(3, len(names))], ", ")
}
