package servers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// The page shows each version, and no other.
func TestVersionsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(); !strings.Contains(string(page), "\n\n"+want+"\n") {
		t.Errorf("docs/versions.md has not this table:\n\n%s", want)
	}
}

// table is what the page shows.
func table() string {
	var b strings.Builder
	b.WriteString("| server | version | is | name | packaged by |\n|---|---|---|---|---|\n")
	for _, v := range servers.Versions {
		name, from := v.Name, v.From
		if name != "" {
			name = "`" + name + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", v.Engine, v.Number, v.Standing, name, from)
	}
	return b.String()
}

// Each version that can be had is in the script that unpacks them, or has a module that pins it.
func TestVersionsAreUnpacked(t *testing.T) {
	script, err := os.ReadFile("../../scripts/servers-extra.sh")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, v := range servers.Versions {
		switch must := v.Standing == servers.Tested || v.Standing == servers.Refused; {
		case names[v.Name]:
			t.Errorf("%s is there twice", v.Name)
		case must && v.Name == "", v.Standing == servers.Usual && v.Name != "":
			t.Errorf("%s %s is %q, with the name %q", v.Engine, v.Number, v.Standing, v.Name)
		case v.Name == "":
		case v.From == "Go modules":
			pins(t, filepath.Join("etcdbuild", strings.TrimPrefix(v.Name, "etcd-")), v.Number)
		case !strings.Contains(string(script), " "+v.Name+" "):
			t.Errorf("scripts/servers-extra.sh does not unpack %s", v.Name)
		}
		names[v.Name] = v.Name != ""
	}
}

// The usual etcd is the one that its module pins.
func TestUsualEtcd(t *testing.T) {
	i := slices.IndexFunc(servers.Versions, func(v servers.Version) bool {
		return v.Engine == "etcd" && v.Standing == servers.Usual
	})
	pins(t, "etcdbuild", servers.Versions[i].Number)
}

// pins fails the test unless a folder's module pins a version of etcd.
func pins(t *testing.T, folder, version string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "go.etcd.io/etcd/server/v3 v"+version+" ") {
		t.Errorf("%s/go.mod does not pin etcd %s: %v", folder, version, err)
	}
}

// What HOLDFAST_EXTRA names is what runs.
func TestInPlace(t *testing.T) {
	name := os.Getenv("HOLDFAST_EXTRA")
	if name == "" || runtime.GOOS != "linux" {
		t.Skip("for HOLDFAST_EXTRA with one version, on Linux")
	}
	v, ok := servers.Named(name)
	if !ok {
		t.Fatalf("there is no version %q", name)
	}
	s := starters[v.Engine](t)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.Pid))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.Pid)) // Redis writes over its command line
	if err != nil {
		t.Fatal(err)
	}
	runs := program + " " + string(line)
	if !strings.Contains(runs, "/"+name+"/") && !strings.Contains(runs, "/etcd-v"+v.Number+"/") {
		t.Errorf("it runs %q", runs)
	}
}

// starters start a server of each engine.
var starters = map[string]func(t testing.TB) *servers.Server{
	"etcd":       func(t testing.TB) *servers.Server { return servers.Etcd(t) },
	"ZooKeeper":  func(t testing.TB) *servers.Server { return servers.ZooKeeper(t) },
	"PostgreSQL": func(t testing.TB) *servers.Server { return servers.Postgres(t) },
	"PgBouncer": func(t testing.TB) *servers.Server {
		return servers.PgBouncer(t, servers.Postgres(t), "transaction")
	},
	"MariaDB": func(t testing.TB) *servers.Server { return servers.MariaDB(t) },
	"MySQL":   func(t testing.TB) *servers.Server { return servers.MariaDB(t) },
	"Redis":   func(t testing.TB) *servers.Server { return servers.Redis(t) },
	"Valkey":  func(t testing.TB) *servers.Server { return servers.Redis(t) },
}

// A name that there is not fails all tests, which would pass on another version than was asked for.
func TestUnknownVersion(t *testing.T) {
	out, err := again(t, "TestRedis", "HOLDFAST_EXTRA=redis-1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `HOLDFAST_EXTRA names "redis-1"`) {
		t.Errorf("it says:\n%s", out)
	}
}
