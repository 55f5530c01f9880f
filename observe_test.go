package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

type scopeKey struct{}

// A scribe notes what it is told. Each lease has the scribe's name as a value of its scope.
type scribe struct {
	name  string
	mu    sync.Mutex
	lines []string
}

func (s *scribe) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *scribe) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func (s *scribe) Observe(_ context.Context, e holdfast.Event) { s.note(string(e.Op)) }

func (s *scribe) Enter(ctx context.Context, e holdfast.Event) (context.Context, func(holdfast.Event)) {
	outer, _ := ctx.Value(scopeKey{}).(string)
	s.note("enter " + string(e.Op))
	return context.WithValue(ctx, scopeKey{}, outer+s.name), func(e holdfast.Event) { s.note("leave " + string(e.Op)) }
}

// The work under a lock is in the scope that the observer made, which ends once, however the lease does.
func TestScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, second := &scribe{name: "a"}, &scribe{name: "b"}
		client := holdfast.New(memlock.New().Client(), holdfast.WithObserver(holdfast.Observers(nil, s, second)))
		defer client.Close(context.Background())
		err := client.Mutex("m").Do(t.Context(), func(ctx context.Context, l *holdfast.Lease) error {
			if in := ctx.Value(scopeKey{}); in != "ab" || l.Context().Value(scopeKey{}) != in {
				t.Errorf("the work is in scope %v", in)
			}
			again := client.Mutex("m", holdfast.WithReentrant())
			return again.Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
				if in := ctx.Value(scopeKey{}); in != "ab" {
					t.Errorf("an inner acquisition is in scope %v", in)
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"enter acquire", "acquire", "acquire", "release", "release", "leave release"}
		if got := s.noted(); !slices.Equal(got, want) {
			t.Errorf("noted %q", got)
		}
		if !slices.Equal(second.noted(), want) {
			t.Errorf("the second observer noted %q", second.noted())
		}
	})
}

// A scope ends with a lease that is lost, and one whose client is closed.
func TestScopeOfLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scribe{}
		client := holdfast.New(memlock.New().Client(), holdfast.WithObserver(s))
		if _, err := client.Mutex("m", holdfast.WithMaxHold(time.Second)).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := client.Mutex("m").Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		client.Close(t.Context())
		synctest.Wait()
		want := []string{
			"enter acquire", "acquire", "lose", "leave lose",
			"enter acquire", "acquire", "release", "leave release",
		}
		if got := s.noted(); !slices.Equal(got, want) {
			t.Errorf("noted %q", got)
		}
	})
}

// An observer that panics at the entry leaves no lock behind.
func TestPanicAtEntry(t *testing.T) {
	client := holdfast.New(memlock.New().Client(), holdfast.WithObserver(panickingScoper{}))
	defer client.Close(context.Background())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		client.Mutex("m").Lock(t.Context())
	}()
	lease, err := client.Mutex("m", holdfast.WithObserver(nil)).Lock(t.Context())
	if err != nil || errors.Is(lease.Err(), holdfast.ErrLost) {
		t.Fatal(err)
	}
	lease.Release(t.Context())
}

type panickingScoper struct{}

func (panickingScoper) Observe(context.Context, holdfast.Event) {}

func (panickingScoper) Enter(context.Context, holdfast.Event) (context.Context, func(holdfast.Event)) {
	panic("at the entry")
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		op   holdfast.Op
		err  error
		want string
	}{
		{holdfast.OpAcquire, nil, "acquired"},
		{holdfast.OpAcquire, fmt.Errorf("lock: %w", holdfast.ErrNotAcquired), "not_acquired"},
		{holdfast.OpAcquire, fmt.Errorf("lock: %w", holdfast.ErrUnknown), "unknown"},
		{holdfast.OpAcquire, errors.New("refused"), "error"},
		{holdfast.OpRelease, nil, "released"},
		{holdfast.OpRelease, &holdfast.LostError{Reason: holdfast.LostGone}, "gone"},
		{holdfast.OpLose, &holdfast.LostError{Reason: holdfast.LostExpired}, "expired"},
		{holdfast.OpLose, &holdfast.LostError{Reason: holdfast.LostMaxHold}, "max_hold"},
	} {
		if got := (holdfast.Event{Op: test.op, Err: test.err}).Outcome(); got != test.want {
			t.Errorf("%s with %v: %q, want %q", test.op, test.err, got, test.want)
		}
	}
}
