package batch_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// An instant driver answers at once, and keeps nothing.
type instant struct{ traits driver.Traits }

func (d instant) Traits() driver.Traits             { return d.traits }
func (instant) Subscribe(func(driver.Event)) func() { return func() {} }
func (instant) Close() error                        { return nil }

func (instant) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	for i := range ops {
		done(i, driver.Result{})
	}
}

// BenchmarkAlone is what a Sender adds to an operation that is sent alone.
func BenchmarkAlone(b *testing.B) {
	for _, traits := range []driver.Traits{{}, {Alone: 1}, {Alone: 8, MaxInFlight: 2}} {
		b.Run(fmt.Sprintf("alone=%d,inflight=%d", traits.Alone, traits.MaxInFlight), func(b *testing.B) {
			s := batch.New(instant{traits}, nil)
			op := change("01234567890123456789_12345678")
			b.ReportAllocs()
			for b.Loop() {
				s.Do(b.Context(), op, time.Second)
			}
		})
	}
}

// BenchmarkTogether is what it adds where 64 goroutines gather.
func BenchmarkTogether(b *testing.B) {
	s := batch.New(instant{driver.Traits{Alone: 1, MaxInFlight: 1}}, nil)
	var ids atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		op := change(fmt.Sprintf("01234567890123456789_%08d", ids.Add(1)))
		for pb.Next() {
			s.Do(b.Context(), op, time.Second)
		}
	})
}
