package fence_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/internal/fencetest"
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
	r := fencetest.Trial{T: t, Use: func(resource string, token uint64) error {
		return seen.Do(resource, token, func() error {
			wrote = append(wrote, fmt.Sprint(resource, token))
			return nil
		})
	}}
	r.Admits("a", 5)
	r.Admits("a", 5) // a holder writes more than once
	r.Refuses("a", 4)
	r.Admits("b", 4) // resources do not know each other
	r.Admits("a", 7)
	r.Refuses("a", 6)
	r.Admits("a", 7)
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

// What is looked at, refused, or not accepted is not kept.
func TestRegisterKeepsOnlyWhatWasAccepted(t *testing.T) {
	var seen fence.Register
	handler := fence.Handler(&seen, func(r *http.Request) string { return r.URL.Path }, http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	for i := range 100 {
		name := fmt.Sprint("/", i)
		seen.Seen(name)
		seen.Do(name, 0, func() error { return nil })
		r := httptest.NewRequest(http.MethodPut, name, nil)
		r.Header.Set(fence.Header, "5")
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if got := seen.Len(); got != 0 {
		t.Errorf("%d resources are remembered", got)
	}
}

// A register that is full refuses what is new, and forgets nothing for it.
func TestRegisterIsBounded(t *testing.T) {
	seen := fence.Register{Max: 2}
	write := func(name string, token uint64) error { return seen.Do(name, token, func() error { return nil }) }
	for _, row := range []struct {
		name  string
		token uint64
		want  error
	}{
		{"a", 5, nil}, {"b", 5, nil}, {"c", 5, fence.ErrFull},
		{"a", 6, nil}, {"b", 4, fence.ErrStale}, {"a", 5, fence.ErrStale},
	} {
		if err := write(row.name, row.token); !errors.Is(err, row.want) {
			t.Errorf("%s, %d: %v, want %v", row.name, row.token, err, row.want)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", nil)
	r.Header.Set(fence.Header, "5")
	full := func(*http.Request) string { return "c" }
	fence.Handler(&seen, full, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("served")
	})).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d", w.Code)
	}
	seen.Forget("a")
	seen.Forget("unknown")
	if err := errors.Join(write("c", 5), write("b", 5)); err != nil {
		t.Error(err)
	}
	if got := seen.Len(); got != 2 {
		t.Errorf("%d resources are remembered", got)
	}
	unbounded := fence.Register{Max: -1}
	for i := range 1000 {
		if err := unbounded.Do(fmt.Sprint(i), 5, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// What is forgotten while it is written to is forgotten, and the turns stay in order.
func TestForgetWhileWriting(t *testing.T) {
	var seen fence.Register
	err := seen.Do("a", 5, func() error {
		seen.Forget("a")
		return nil
	})
	if err != nil || seen.Len() != 0 {
		t.Errorf("%v, %d resources are remembered", err, seen.Len())
	}
}

// A resource is kept for Keep after its last use, and no longer than about that.
func TestRegisterForgetsWhatNobodyUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := fence.Register{Keep: 24 * time.Hour, Max: 100}
		write := func(name string, token uint64) error { return seen.Do(name, token, func() error { return nil }) }
		for i := range 100 {
			if err := write(fmt.Sprint(i), 5); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(24 * time.Hour)
		if err := write("0", 5); err != nil { // it is in use
			t.Error(err)
		}
		if err := write("1", 4); !errors.Is(err, fence.ErrStale) {
			t.Errorf("after exactly as long as it is kept: %v", err)
		}
		time.Sleep(24*time.Hour - time.Minute)
		if err := write("new", 5); err != nil {
			t.Errorf("others were forgotten: %v", err)
		}
		if err := write("0", 4); !errors.Is(err, fence.ErrStale) {
			t.Errorf("what was used is forgotten: %v", err)
		}
		if got := seen.Len(); got != 2 {
			t.Errorf("%d resources are remembered", got)
		}
	})
}

// A write that lasts for longer than resources are kept is still there, and nobody else writes beside it.
func TestRegisterKeepsWhatIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := fence.Register{Keep: time.Minute}
		writing := 0
		var done sync.WaitGroup
		for range 2 {
			done.Go(func() {
				seen.Do("a", 5, func() error {
					if writing++; writing > 1 {
						t.Error("two write at once")
					}
					time.Sleep(time.Hour)
					writing--
					return nil
				})
			})
			time.Sleep(time.Minute + 1)
			seen.Do("new", 5, func() error { return nil }) // looks for what can be forgotten
		}
		done.Wait()
	})
}
