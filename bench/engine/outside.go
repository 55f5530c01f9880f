package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
)

// Outside calls fn with what functions for tests ask for, outside of a test, and returns its error or what they
// complained of. What they want to clean up is done before it returns. All of it happens in one goroutine.
func Outside(ctx context.Context, fn func(testing.TB) error) (err error) {
	t := &outside{ctx: ctx}
	done := make(chan struct{})
	go func() { // ends with fn
		defer close(done)
		defer t.tidy()
		t.complain(fn(t))
	}()
	<-done
	return t.err
}

// outside is as much of a test as [servers] needs.
type outside struct {
	testing.TB // nothing: whatever is not below is not there
	ctx        context.Context
	cleanups   []func()
	err        error
}

func (t *outside) complain(err error) { t.err = errors.Join(t.err, err) }

// tidy does last what was asked for first.
func (t *outside) tidy() {
	for _, clean := range slices.Backward(t.cleanups) {
		clean()
	}
}

func (t *outside) Helper()                  {}
func (t *outside) Logf(string, ...any)      {}
func (t *outside) Context() context.Context { return t.ctx }
func (t *outside) Failed() bool             { return t.err != nil }
func (t *outside) Cleanup(clean func())     { t.cleanups = append(t.cleanups, clean) }

// Fatal ends fn, as it would end a test.
func (t *outside) Fatal(args ...any) {
	t.complain(errors.New(fmt.Sprint(args...)))
	runtime.Goexit()
}

func (t *outside) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }

// Skip says that something is missing, which is no less an error here.
func (t *outside) Skip(args ...any) { t.Fatal(args...) }

func (t *outside) TempDir() string {
	dir, err := os.MkdirTemp("", "holdfast-bench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
