package servers

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
)

// Main runs the tests of a package whose examples need servers, as an Example has no [testing.TB] to start one with. It
// calls begin before them; what begin starts ends after them. Where a server is missing all of the package is
// skipped, or fails if nothing may be skipped. For TestMain; it does not return.
func Main(m *testing.M, begin func(t testing.TB)) {
	t := &mainTest{}
	code, ran := 0, t.protect(func() { begin(t) })
	if ran {
		code = m.Run()
	}
	t.protect(t.cleanUp)
	if t.failed && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// A mainTest is what the servers of a TestMain are started with. It has what they use.
type mainTest struct {
	testing.TB
	cleanups []func()
	failed   bool
}

// stopped is the panic that ends begin, as [testing.TB.FailNow] ends a test.
type stopped struct{}

// protect reports whether f ran to its end.
func (t *mainTest) protect(f func()) (ran bool) {
	defer func() {
		if r := recover(); r != nil && r != (stopped{}) {
			panic(r)
		}
	}()
	f()
	return true
}

func (t *mainTest) cleanUp() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

func (t *mainTest) Helper()                  {}
func (t *mainTest) Name() string             { return "TestMain" }
func (t *mainTest) Failed() bool             { return t.failed }
func (t *mainTest) Context() context.Context { return context.Background() }
func (t *mainTest) Cleanup(f func())         { t.cleanups = append(t.cleanups, f) }
func (t *mainTest) Log(args ...any)          { fmt.Fprintln(os.Stderr, args...) }
func (t *mainTest) Logf(f string, a ...any)  { t.Log(fmt.Sprintf(f, a...)) }

func (t *mainTest) Fatal(args ...any) {
	t.Log(args...)
	t.failed = true
	panic(stopped{})
}

func (t *mainTest) Fatalf(f string, args ...any) { t.Fatal(fmt.Sprintf(f, args...)) }

func (t *mainTest) Skip(args ...any) {
	t.Log(args...)
	panic(stopped{})
}

func (t *mainTest) TempDir() string {
	dir, err := os.MkdirTemp("", "holdfast")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
