package released

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

const (
	root    = "github.com/holdfast-go/holdfast"
	version = "v0.1.0" // of the release that the tests pretend
)

func TestMain(m *testing.M) {
	flag.Parse()
	servers.Main(m, func(t testing.TB) {
		if effort.IsLong() || *update {
			proxy, modules = publish(t), t.TempDir()
		}
	})
}

var (
	proxy   string // the folder of a module proxy that has our modules as a release of this tree would publish them
	modules string // the module cache of all newcomers, empty when the first arrives
)

func publish(t testing.TB) string {
	folder := t.TempDir()
	command := exec.Command("go", "run", "./release", "publish", version, folder)
	command.Dir = filepath.Join("..", "devtools")
	command.Env = append(os.Environ(), "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("release publish: %v\n%s", err, out)
	}
	return folder
}

// A newcomer has an empty folder, and gets modules from proxies alone.
type newcomer struct {
	folder string
	env    []string
}

func arrive(t *testing.T) newcomer {
	t.Helper()
	folder := t.TempDir()
	download := filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")
	return newcomer{folder, append(os.Environ(),
		"GOMODCACHE="+modules, "GOBIN="+filepath.Join(folder, "bin"),
		"GOPROXY=file://"+proxy+",file://"+download+","+goEnv(t, "GOPROXY"),
		"GOPRIVATE=", "GONOPROXY=", "GOSUMDB=off", // nobody has sums of what is not released
		"GOWORK=", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
	)}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// in makes a folder with these files, and goes there.
func (n newcomer) in(t *testing.T, folder string, files map[string]string) newcomer {
	t.Helper()
	n.folder = filepath.Join(n.folder, folder)
	if err := os.MkdirAll(n.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(n.folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// run returns what a command says, and fails the test if it fails.
func (n newcomer) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = n.folder, n.env
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		offline(t, complaint.String())
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(program), strings.Join(args, " "), err, out, complaint.String())
	}
	return string(out)
}

// complaint returns what a command says when it fails, and fails the test if it does not.
func (n newcomer) complaint(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = n.folder, n.env
	said, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("%s %s does not fail", filepath.Base(program), strings.Join(args, " "))
	}
	return string(said)
}

// offline skips a test that lacks a module of others, where no proxy answers; unless nothing may be skipped.
func offline(t *testing.T, complaint string) {
	t.Helper()
	for _, sign := range []string{
		"dial tcp", "proxyconnect", "no such host", "i/o timeout", "module lookup disabled by GOPROXY=off",
	} {
		if strings.Contains(complaint, sign) && os.Getenv("HOLDFAST_NO_SKIP") != "all" {
			t.Skipf("a module of others is neither in the module cache nor to be had: %s", complaint)
		}
	}
}
