package servers

import (
	"fmt"
	"os"
	"testing"
)

// Require skips a test for which something was not found, with the command that installs it, or fails it where
// nothing may be skipped.
func Require(t testing.TB, found bool, what, install string) {
	t.Helper()
	if found {
		return
	}
	reason := fmt.Sprintf("%s is not installed; install it with: %s", what, install)
	if install != installExtra {
		reason += " (or: make servers)"
	}
	if os.Getenv(mustRun) != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
