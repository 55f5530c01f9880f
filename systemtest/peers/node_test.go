package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/internal/interop"
)

// nodeRedlock is the package redlock from npm, which scripts/servers.sh puts into a folder of its own.
var nodeRedlock = interop.Program{Name: "node redlock", Command: func(t *testing.T) *exec.Cmd {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "holdfast", "node-redlock-4.2.0", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "redlock")); err != nil {
		missing(t, "the package redlock of npm", "all")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node", "1", "all")
	}
	cmd := exec.Command(node, filepath.Join("testdata", "redlock.js"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	return cmd
}}

// missing skips the test, or fails it where HOLDFAST_NO_SKIP has one of these values. What comes from another
// registry than Go's must be there for "all" alone: who cannot reach that registry tests the rest.
func missing(t *testing.T, what string, must ...string) {
	t.Helper()
	reason := what + " is not installed; install it with: make servers"
	if slices.Contains(must, os.Getenv("HOLDFAST_NO_SKIP")) {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
