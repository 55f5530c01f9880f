package holdfasttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/holdfasttest"
)

// A judged test notes what it is failed with.
type judged struct {
	testing.TB
	said []string
}

func (j *judged) Helper() {}

func (j *judged) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}

type fatal struct{}

func (j *judged) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	panic(fatal{})
}

// verdict is what Sweep says of a section.
func verdict(t *testing.T, section holdfasttest.Section) []string {
	t.Helper()
	j := &judged{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != (fatal{}) {
				panic(p)
			}
		}()
		holdfasttest.Sweep(j, section)
	}()
	return j.said
}

// Sections that are right pass: those that send their token, and those that look before they write.
func TestSweepPasses(t *testing.T) {
	fenced := func(_ context.Context, r *holdfasttest.Run) error {
		r.Write("stock", r.Lease.Token())
		r.Step()
		return r.Write("bill", r.Lease.Token())
	}
	looking := func(ctx context.Context, r *holdfasttest.Run) error {
		for _, what := range []string{"stock", "bill"} {
			if err := r.Lease.Err(); err != nil {
				return err
			}
			r.Write(what, 0)
		}
		return ctx.Err()
	}
	idle := func(context.Context, *holdfasttest.Run) error { return nil }
	for name, section := range map[string]holdfasttest.Section{"fenced": fenced, "looking": looking, "idle": idle} {
		if said := verdict(t, section); len(said) > 0 {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// So do those that look at a context that they have made of theirs, as with a timeout: all of these have ended when a
// step is over after which the lock is lost. With many of them that takes a while.
func TestSweepWithContextsOfContexts(t *testing.T) {
	said := verdict(t, func(ctx context.Context, r *holdfasttest.Run) error {
		var own context.Context
		for range 10000 {
			made, cancel := context.WithCancel(ctx)
			defer cancel()
			own = made
		}
		for _, what := range []string{"stock", "bill"} {
			if own.Err() != nil {
				return own.Err()
			}
			r.Write(what, 0)
		}
		return own.Err()
	})
	if len(said) > 0 {
		t.Errorf("%q", said)
	}
}

// Those that are not, fail, and are told at which step.
func TestSweepFails(t *testing.T) {
	for _, row := range []struct {
		name    string
		section holdfasttest.Section
		want    []string
	}{
		{"it never looks", func(_ context.Context, r *holdfasttest.Run) error {
			r.Write("stock", 0)
			return r.Write("bill", 0)
		}, []string{`before the first step: "stock"`, `before the first step: "bill"`, `after step 1: "bill"`}},
		{"it looks once, and works", func(ctx context.Context, r *holdfasttest.Run) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.Step()
			return r.Write("bill", 0)
		}, []string{`after step 1: "bill"`}},
		{"its token is another's", func(_ context.Context, r *holdfasttest.Run) error {
			return r.Write("bill", r.Lease.Token()+1)
		}, []string{"nobody's"}},
		{"it fails by itself", func(context.Context, *holdfasttest.Run) error {
			return fmt.Errorf("no paper")
		}, []string{"no paper"}},
		{"it does not end", func(_ context.Context, r *holdfasttest.Run) error {
			for {
				r.Step()
			}
		}, []string{"steps at most"}},
	} {
		said := verdict(t, row.section)
		if len(said) < len(row.want) {
			t.Errorf("%s: %q", row.name, said)
			continue
		}
		for i, want := range row.want {
			if !strings.Contains(said[i], want) {
				t.Errorf("%s: %q lacks %q", row.name, said[i], want)
			}
		}
	}
}
