package holdfasttest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

func hold(t *testing.T, p *holdfasttest.Process, opts ...holdfast.Option) *holdfast.Lease {
	t.Helper()
	lease, err := p.Mutex("m", opts...).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestLoseAndSteal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := holdfasttest.NewStore()
		p := store.Process(t)
		first := hold(t, p)
		store.Lose(t, "m")
		<-first.Done()
		if !errors.Is(first.Err(), holdfast.ErrLost) {
			t.Errorf("the first ended with %v", first.Err())
		}
		second := hold(t, p)
		third := store.Steal(t, "m")
		<-second.Done()
		if third.Err() != nil || third.Token() <= second.Token() {
			t.Errorf("stolen: %v, token %d after %d", third.Err(), third.Token(), second.Token())
		}
		if _, err := p.Mutex("m").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("beside the thief: %v", err)
		}
	})
}

// A process that waits while it is cut off is not told that the lock is its own, and learns it once that is mended.
func TestCutWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := holdfasttest.NewStore()
		p, other := store.Process(t), store.Process(t)
		lease := hold(t, other)
		got := make(chan error, 1)
		go func() {
			_, err := p.Mutex("m").Lock(t.Context())
			got <- err
		}()
		synctest.Wait()
		p.Cut()
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("over a line that is cut: %v", err)
		default:
		}
		p.Mend()
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// A process that is cut off loses its lock before another has it, and knows nothing of what it asked meanwhile.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := holdfasttest.NewStore()
		p, other := store.Process(t), store.Process(t)
		lease := hold(t, p)
		p.Cut()
		second := hold(t, other)
		if lease.Err() == nil {
			t.Error("two hold it")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Mutex("other").Lock(ctx); !errors.Is(err, holdfast.ErrUnknown) {
			t.Errorf("asked over a line that is cut: %v", err)
		}
		p.Mend()
		if err := second.Release(t.Context()); err != nil {
			t.Error(err)
		}
		hold(t, p).Release(t.Context())
	})
}

// What a mute backend was asked is applied, and undone when it can be heard again.
func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := holdfasttest.NewStore()
		p, other := store.Process(t), store.Process(t)
		p.Mute()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Mutex("m").Lock(ctx); !errors.Is(err, holdfast.ErrUnknown) {
			t.Errorf("the first got %v", err)
		}
		if _, err := other.Mutex("m").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("the request was not applied: %v", err)
		}
		p.Mend()
		hold(t, other).Release(t.Context())
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := holdfasttest.NewStore().Process(t)
		p.Delay(time.Second)
		began := time.Now()
		lease := hold(t, p)
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		lease.Release(t.Context())
	})
}

// Candidates come back as soon as their claims are broken, and still the thief is the first.
func TestStealFromCandidates(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			store := holdfasttest.NewStore()
			ctx, cancel := context.WithCancel(t.Context())
			for range 8 {
				e := store.Process(t).Election("boss")
				go e.Run(ctx, "", func(ctx context.Context, l *holdfast.Lease) error {
					<-ctx.Done()
					return ctx.Err()
				})
			}
			synctest.Wait()
			start, stolen := time.Now(), make(chan *holdfast.Lease)
			go func() { stolen <- store.Steal(t, "boss") }()
			select {
			case lease := <-stolen:
				if took := time.Since(start); lease.Err() != nil || took > 0 {
					t.Errorf("the thief has it after %v: %v", took, lease.Err())
				}
				cancel()
			case <-time.After(time.Minute):
				t.Error("the thief waits behind a candidate that came back")
				cancel()
				<-stolen
			}
		})
	}
}
