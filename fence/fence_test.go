package fence_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/fence"
)

func TestParse(t *testing.T) {
	for _, token := range []uint64{1, 1 << 53, 1<<53 + 1, fence.MaxToken} {
		if got, err := fence.Parse(fence.Format(token)); got != token || err != nil {
			t.Errorf("%d becomes %d, %v", token, got, err)
		}
	}
	for _, s := range []string{
		"", "0", "00", "01", "+1", "-1", " 1", "1 ", "1e3", "1.0", "0x1", "1_000", "١", "9223372036854775808",
		"18446744073709551616", strings.Repeat("9", 1000),
	} {
		if got, err := fence.Parse(s); err == nil {
			t.Errorf("%q is taken for %d", s, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("the error repeats all of a long header: %d bytes", len(err.Error()))
		}
	}
}

func TestCheck(t *testing.T) {
	for _, token := range []uint64{0, fence.MaxToken + 1, math.MaxUint64} {
		if fence.Check(token) == nil {
			t.Errorf("%d passes", token)
		}
	}
}

func TestRegister(t *testing.T) {
	var seen fence.Register
	wrote := []string{}
	for _, row := range []struct {
		resource string
		token    uint64
		stale    bool
	}{
		{"a", 5, false},
		{"a", 5, false}, // a holder writes more than once
		{"a", 4, true},
		{"b", 4, false}, // resources do not know each other
		{"a", 7, false},
		{"a", 6, true},
		{"a", 7, false},
	} {
		err := seen.Do(row.resource, row.token, func() error {
			wrote = append(wrote, fmt.Sprint(row.resource, row.token))
			return nil
		})
		if errors.Is(err, fence.ErrStale) != row.stale || !row.stale && err != nil {
			t.Errorf("token %d for %q: %v", row.token, row.resource, err)
		}
	}
	if want := []string{"a5", "a5", "b4", "a7", "a7"}; !slices.Equal(wrote, want) {
		t.Errorf("written: %v, want %v", wrote, want)
	}
	if got := seen.Seen("a"); got != 7 {
		t.Errorf("seen: %d", got)
	}
	if err := seen.Do("a", 0, func() error { t.Error("written without a token"); return nil }); err == nil {
		t.Error("token 0 is admitted")
	}
}

// A write that fails was tried: a smaller token is stale all the same.
func TestRegisterCountsFailures(t *testing.T) {
	var seen fence.Register
	failure := errors.New("failure")
	if err := seen.Do("a", 9, func() error { return failure }); err != failure {
		t.Errorf("the error of the write became %v", err)
	}
	if err := seen.Do("a", 8, func() error { return nil }); !errors.Is(err, fence.ErrStale) {
		t.Errorf("a smaller token: %v", err)
	}
}

// The check is one step with the write: a greater token waits until the write of a smaller one is done.
func TestRegisterWritesOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen fence.Register
		var wrote []uint64
		first, goOn := make(chan struct{}), make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() {
			seen.Do("a", 1, func() error {
				close(first)
				<-goOn
				wrote = append(wrote, 1)
				return nil
			})
		})
		<-first
		done.Go(func() { seen.Do("a", 2, func() error { wrote = append(wrote, 2); return nil }) })
		err := seen.Do("b", 1, func() error { return nil }) // another resource does not wait
		if err != nil {
			t.Error(err)
		}
		close(goOn)
		done.Wait()
		if !slices.Equal(wrote, []uint64{1, 2}) {
			t.Errorf("written in the order %v", wrote)
		}
	})
}
