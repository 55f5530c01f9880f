package engines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// BenchmarkReuse measures the cycle of a client that takes the same lock again, without and with WithReuse, and one of
// many locks, without and with WithAsyncRelease. Then it measures how long another client waits that queues for the
// lock: until its holder releases it, while it is kept and idle, and while its owner takes it in a loop.
func BenchmarkReuse(b *testing.B) { benchEach(b, benchReuse) }

// settled is how long it takes until an owner surely looks out.
const settled = 30 * time.Millisecond

func benchReuse(b *testing.B, url string) {
	owner, other := longLived(b, url), longLived(b, url)
	plain, kept := owner.Mutex("plain"), owner.Mutex("kept", holdfast.WithReuse(time.Hour))
	if err := kept.Do(b.Context(), noWork); errors.Is(err, errors.ErrUnsupported) {
		b.Skip(err)
	}
	b.Run("again/released", func(b *testing.B) {
		for b.Loop() {
			do(b, plain)
		}
	})
	b.Run("again/kept", func(b *testing.B) {
		for b.Loop() {
			do(b, kept)
		}
	})
	for what, opts := range map[string][]holdfast.Option{
		"released": nil, "released later": {holdfast.WithAsyncRelease()},
	} {
		b.Run("many names/"+what, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				do(b, owner.Mutex(fmt.Sprint(what, i%1000), opts...))
			}
		})
	}
	b.Run("other/released", func(b *testing.B) {
		benchWaiting(b, func() time.Duration {
			lease := locked(b, plain)
			granted := make(chan *holdfast.Lease, 1)
			go func() { granted <- locked(b, other.Mutex("plain")) }()
			for queue, err := other.Queue(b.Context(), "plain"); len(queue) < 2 && err == nil; {
				queue, err = other.Queue(b.Context(), "plain")
			}
			began := time.Now()
			lease.Release(b.Context())
			return tookUntil(b, began, <-granted)
		})
	})
	b.Run("other/kept", func(b *testing.B) {
		benchWaiting(b, func() time.Duration {
			do(b, kept)
			time.Sleep(settled)
			return wait(b, other.Mutex("kept"))
		})
	})
	b.Run("other/kept in a loop", func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		var loop sync.WaitGroup
		loop.Go(func() {
			for ctx.Err() == nil {
				kept.Do(ctx, noWork)
			}
		})
		benchWaiting(b, func() time.Duration { return wait(b, other.Mutex("kept")) })
		stop()
		loop.Wait()
	})
}

// benchWaiting reports how long each turn had to wait.
func benchWaiting(b *testing.B, turn func() time.Duration) {
	var waited []time.Duration
	for b.Loop() {
		waited = append(waited, turn())
	}
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(waited[len(waited)*99/100].Microseconds()), "p99-µs")
}

// do locks and releases.
func do(b *testing.B, m *holdfast.Mutex) {
	if err := locked(b, m).Release(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func locked(b *testing.B, m *holdfast.Mutex) *holdfast.Lease {
	lease, err := m.Lock(b.Context())
	if err != nil {
		b.Error(err)
	}
	return lease
}

// wait returns how long a lock took to be granted, and releases it.
func wait(b *testing.B, m *holdfast.Mutex) time.Duration {
	began := time.Now()
	return tookUntil(b, began, locked(b, m))
}

func tookUntil(b *testing.B, began time.Time, lease *holdfast.Lease) time.Duration {
	took := time.Since(began)
	if err := lease.Release(b.Context()); err != nil {
		b.Fatal(err)
	}
	return took
}
