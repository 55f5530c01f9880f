// Package effort sorts tests by how long they take. A command runs those of each effort:
//
//	make test       proves each promise once on every engine, as a plain go test does
//	make test-long  HOLDFAST_LONG=1: repeats that with the race detector, in other layouts and in numbers
//	make soak       HOLDFAST_SOAK=1: the long tests too, in numbers that take hours
//
// A test that says nothing belongs to make test.
package effort

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// These begin the reasons of skips, by which internal/runtests counts them.
const (
	longMark = "long: "
	soakMark = "soak: "
)

// Long skips a test unless long tests are to run. A function whose name begins with Test must call it itself, with its
// own t or that of a subtest: make test-long finds the tests to run by that.
func Long(t testing.TB) {
	t.Helper()
	if !IsLong() {
		t.Skip(longMark + advice("make test-long", "HOLDFAST_LONG", t.Name()))
	}
}

// Soak skips a test unless this is a soak.
func Soak(t testing.TB) {
	t.Helper()
	if !IsSoak() {
		t.Skip(soakMark + advice("make soak", "HOLDFAST_SOAK", t.Name()))
	}
}

func advice(command, variable, test string) string {
	top, _, _ := strings.Cut(test, "/")
	return fmt.Sprintf("%s runs this, and so does %s=1 go test -run '^%s$'", command, variable, top)
}

// IsLong reports whether long tests are to run.
func IsLong() bool { return IsSoak() || os.Getenv("HOLDFAST_LONG") != "" }

// IsSoak reports whether this is a soak.
func IsSoak() bool { return os.Getenv("HOLDFAST_SOAK") != "" }

// Pick returns how much a test does: usually, and in a soak.
func Pick[T any](usual, soak T) T {
	if IsSoak() {
		return soak
	}
	return usual
}

// Raced says that a test runs in make test, and again in make test-long, there with the race detector, which make test
// has only where no server is needed. Long tests beside it have the detector, too. As with [Long], the function of the
// test calls it itself.
func Raced(testing.TB) {}
