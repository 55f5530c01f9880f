//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A guard, and a command that has not begun, are this program without what initialises the engines: that takes longer
// than all that they do.
func TestHiddenModesInitialiseNoEngine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"holdfast", "--guard", "1", ""},
		{"holdfast", "--begin", "0", "1", "1", "/bin/echo", "echo", "begun"},
	} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args, cmd.Env = args, append(os.Environ(), "GODEBUG=inittrace=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage {
			t.Errorf("%q: exit code %d, want %d", args, code, exitUsage)
		}
		packages := initialised(string(out))
		if !hasPrefix(packages, "os") {
			t.Errorf("%q: the runtime does not tell what it initialises: %s", args, out)
		}
		for _, engine := range []string{"github.com/holdfast-go/holdfast/driver", "google.golang.org/protobuf/reflect",
			"google.golang.org/grpc/codes", "go.etcd.io/", "modernc.org/sqlite", "github.com/jackc/pgx/v5/pgconn",
			"github.com/go-sql-driver/", "net/http", "main"} {
			if hasPrefix(packages, engine) {
				t.Errorf("%q: a package is initialised that begins with %s", args, engine)
			}
		}
	}
}

// initialised are the packages of a trace, which has lines like "init os @1.2 ms, ...".
func initialised(trace string) (packages []string) {
	for line := range strings.Lines(trace) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "init" {
			packages = append(packages, fields[1])
		}
	}
	return packages
}
