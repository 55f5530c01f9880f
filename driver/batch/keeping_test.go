package batch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A keeper looks at its first batch again when it is called next. It panics in the first call.
type keeper struct {
	echo
	first []driver.Op
	seen  []string // claims of the first batch, by then
}

func (k *keeper) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	if k.first == nil {
		k.first = ops
		panic("no answer")
	}
	for _, op := range k.first {
		k.seen = append(k.seen, op.Claim.ID)
	}
	for i := range ops {
		done(i, driver.Result{})
	}
}

// A driver that panics may have goroutines that still work on its batch, so nothing else is put there.
func TestBatchOfADriverThatPanics(t *testing.T) {
	k := &keeper{}
	s := New(k, &Options{Stray: func(*Panic) {}})
	ask := func(ops ...driver.Op) error {
		said := make(chan error, len(ops))
		s.Go(t.Context(), ops, time.Minute, func(_ int, a Answer) { said <- a.Err })
		var errs []error
		for range ops {
			errs = append(errs, <-said)
		}
		return errors.Join(errs...)
	}
	if _, panicked := errors.AsType[*Panic](ask(numbered(1), numbered(2))); !panicked {
		t.Fatal("the panic is not told")
	}
	if err := ask(numbered(3), numbered(4)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(k.seen, []string{"1", "2"}) {
		t.Errorf("its batch has the claims %q by then", k.seen)
	}
}
