package servers

import (
	"fmt"
	"os"
	"testing"
)

// Need skips a test whose other needs were not found, with the command that installs them, or fails it where nothing may
// be skipped.
func Need(t testing.TB, found bool, what, install string) {
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
