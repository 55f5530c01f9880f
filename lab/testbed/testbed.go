// Package testbed gives experiments their servers, in tests and outside of tests, and counts what they ask of them.
package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/holdfast-go/holdfast/bench/engine"
)

// Outside calls fn with what functions for tests ask for, outside of a test. If they skip because something is not
// installed, it says what is missing, which is not an error. Servers that fn has started are stopped before it returns.
func Outside(ctx context.Context, fn func(testing.TB) error) (missing string, err error) {
	s := new(outside)
	err = engine.Outside(ctx, func(t testing.TB) error {
		s.TB = t
		return fn(s)
	})
	return s.missing, err
}

type outside struct {
	testing.TB
	missing string
}

// Skip ends fn.
func (s *outside) Skip(args ...any) {
	s.missing = fmt.Sprint(args...)
	runtime.Goexit()
}

// TempDir returns a folder in a folder, as tests have it: servers open the outer one for other accounts.
func (s *outside) TempDir() string {
	dir := filepath.Join(s.TB.TempDir(), "1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	return dir
}

// Jain returns Jain's index of fairness of what each got: 1 if all got the same, 1/n if one got it all.
func Jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}
