package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What each tag leaves out of the program.
var leftOut = map[string][]string{
	"no_sqlite":    {"modernc.org/"},
	"no_redis":     {"github.com/redis/", "github.com/holdfast-go/holdfast/redislock"},
	"no_etcd":      {"go.etcd.io/", "google.golang.org/", "github.com/holdfast-go/holdfast/etcdlock"},
	"no_zookeeper": {"github.com/go-zookeeper/", "github.com/holdfast-go/holdfast/zklock"},
	"no_mysql":     {"github.com/go-sql-driver/"},
	"no_postgres":  {"github.com/jackc/"},
}

// With each tag nothing that its engine needs is in the program.
func TestTagLeavesItsEngineOut(t *testing.T) {
	t.Parallel()
	all := dependencies(t, "")
	for _, e := range components {
		t.Run(e.tag, func(t *testing.T) {
			gone := leftOut[e.tag]
			if len(gone) == 0 {
				t.Fatal("the table of this test does not say what the tag leaves out")
			}
			some := dependencies(t, e.tag)
			for _, prefix := range gone {
				if !hasPrefix(all, prefix) {
					t.Errorf("no package begins with %s without the tag; correct the table", prefix)
				}
				if hasPrefix(some, prefix) {
					t.Errorf("there are packages that begin with %s; want none", prefix)
				}
			}
		})
	}
}

// With the tag of releases the linker may leave out what nobody calls: templates call methods by names that it does not
// know.
func TestTagOfReleases(t *testing.T) {
	t.Parallel()
	const templates = "html/template"
	if !hasPrefix(dependencies(t, ""), templates) {
		t.Errorf("%s is not in the program without the tag, which is of no use any more", templates)
	}
	if hasPrefix(dependencies(t, "grpcnotrace"), templates) {
		t.Errorf("%s is in the program", templates)
	}
}

// dependencies returns the packages that are in the program.
func dependencies(t *testing.T, tags string) []string {
	t.Helper()
	return strings.Fields(goes(t, "list", "-deps", "-tags", tags, "-f", "{{.ImportPath}}", "."))
}

func hasPrefix(packages []string, prefix string) bool {
	for _, p := range packages {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}

// Who names an engine that was left out is told the tag, and what there is. So it is with the default.
func TestEngineThatWasLeftOut(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "holdfast")
	goes(t, "build", "-tags", "no_sqlite no_redis no_mysql no_postgres no_etcd", "-o", program, ".")
	for _, row := range []struct {
		url  string // none for the default
		code int
		want string
	}{
		{"etcd://127.0.0.1:1", exitUsage, `built with the tag no_etcd, so it has no backend for "etcd:"; use one ` +
			"that was built without it, or another backend of this one: zk\n"},
		{"redlock://127.0.0.1:1", exitUsage, `the tag no_redis`},
		{"file:locks.db", exitUsage, `the tag no_sqlite`},
		{"mysql://127.0.0.1:1/a", exitUsage, `the tag no_mysql`},
		{"postgres://127.0.0.1:1/a", exitUsage, `the tag no_postgres`},
		{"carrier-pigeon:", exitUsage, `this command has no backend for "carrier-pigeon:"; it has: zk`},
		{"zk://127.0.0.1:1", exitUnavailable, "zk://127.0.0.1:1"},
		{"", exitUnavailable, "default backend: this command was built with the tag no_sqlite"},
	} {
		cmd := exec.Command(program, "ls")
		cmd.Env = append(os.Environ(), backendEnv+"="+row.url)
		if row.url == "" {
			cmd.Env = without(os.Environ(), backendEnv)
		}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != row.code || !strings.Contains(string(out), row.want) {
			t.Errorf("%q: exit code %d, %q; want %d, and %q", row.url, code, out, row.code, row.want)
		}
	}
}

// without returns an environment in which a variable is not set.
func without(environment []string, name string) (rest []string) {
	for _, line := range environment {
		if variable(line) != name {
			rest = append(rest, line)
		}
	}
	return rest
}

// goes runs the go command, and returns what it prints.
func goes(t *testing.T, args ...string) string {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command("go", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, &said)
	}
	return string(out)
}
