// Package stage is where experiments find servers, in a test and outside of tests.
package stage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/holdfast-go/holdfast/bench/engine"
)

// Set calls fn with what functions for tests ask for. If they skip, since something is not installed, it says what, and
// that is no error. Servers that fn has started are stopped before it returns.
func Set(ctx context.Context, fn func(testing.TB) error) (missing string, err error) {
	s := new(set)
	err = engine.Outside(ctx, func(t testing.TB) error {
		s.TB = t
		return fn(s)
	})
	return s.missing, err
}

type set struct {
	testing.TB
	missing string
}

// Skip ends fn.
func (s *set) Skip(args ...any) {
	s.missing = fmt.Sprint(args...)
	runtime.Goexit()
}

// TempDir returns a folder in a folder, as tests have it: servers open the outer one for other accounts.
func (s *set) TempDir() string {
	dir := filepath.Join(s.TB.TempDir(), "1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	return dir
}
