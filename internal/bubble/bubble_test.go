package bubble

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// Many goroutines wait for timers of one bubble, and nobody has to read them for them to run. With more processors
// the race detector survives that three times in four.
func TestManyTimers(t *testing.T) {
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { waitOften(ctx) })
				wg.Go(func() { lookOften(ctx) })
			}
			wg.Wait()
		})
	}
}

func waitOften(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-time.NewTimer(time.Millisecond).C:
		case <-ctx.Done():
		}
		brief, cancel := context.WithTimeout(ctx, time.Millisecond)
		<-brief.Done()
		cancel()
	}
}

func lookOften(ctx context.Context) {
	for timer := time.NewTimer(time.Millisecond); ctx.Err() == nil; time.Sleep(100 * time.Microsecond) {
		select {
		case <-timer.C:
			timer.Reset(0)
		default:
		}
	}
}

func TestAlone(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	restore := Alone()
	if n := runtime.GOMAXPROCS(0); Raced && n != 1 || !Raced && n != 3 {
		t.Errorf("%d processors, with the race detector: %v", n, Raced)
	}
	restore()
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("%d processors afterwards, want the 3 from before", n)
	}
}
