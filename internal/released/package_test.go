package released

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The package for Debian is installed into a system of its own, and there is a command that locks, with its manual and
// completions. Removed, it leaves nothing.
func TestDebianPackage(t *testing.T) {
	effort.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("dpkg is Debian's")
	}
	_, err := exec.LookPath("dpkg")
	servers.Require(t, err == nil, "dpkg", "apt-get install dpkg")
	system := emptySystem(t)
	dpkg(t, system, "--install", artefact(t, "*.deb"))

	holdfast := filepath.Join(system, "usr/bin/holdfast")
	static(t, holdfast)
	n := newcomer{folder: t.TempDir(), env: os.Environ()}
	said := n.run(t, holdfast, "version")
	if !strings.HasPrefix(said, "holdfast "+version+" ") || !strings.Contains(said, " "+runtime.Version()+" ") {
		t.Errorf("holdfast version says %q", said)
	}
	store := "file:" + filepath.Join(n.folder, "locks.db")
	if said := n.run(t, holdfast, "run", "--backend", store, "hello", "--", "echo", "hi"); said != "hi\n" {
		t.Errorf("the job under the lock says %q", said)
	}
	for _, name := range []string{
		"man/man1/holdfast.1.gz", "man/man1/holdfast-run.1.gz", "doc/holdfast/copyright",
		"bash-completion/completions/holdfast", "zsh/vendor-completions/_holdfast",
		"fish/vendor_completions.d/holdfast.fish",
	} {
		if _, err := os.Stat(filepath.Join(system, "usr/share", name)); err != nil {
			t.Error(err)
		}
	}

	dpkg(t, system, "--remove", "holdfast")
	if _, err := os.Stat(holdfast); !os.IsNotExist(err) {
		t.Errorf("after its removal the command is there: %v", err)
	}
}

// artefact makes what a release has for this system, and returns the file that a pattern matches.
func artefact(t *testing.T, pattern string) string {
	t.Helper()
	folder := t.TempDir()
	command := exec.Command("go", "run", "./artefacts", version, folder, runtime.GOOS+"/"+runtime.GOARCH)
	command.Dir = filepath.Join("..", "devtools")
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		offline(t, string(out))
		t.Fatalf("artefacts: %v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(made) != 1 {
		t.Fatalf("%s matches %v: %v", pattern, made, err)
	}
	return made[0]
}

// emptySystem makes a folder that dpkg takes for a Debian system without any package.
func emptySystem(t *testing.T) string {
	t.Helper()
	system := t.TempDir()
	admin := filepath.Join(system, "var/lib/dpkg")
	for _, folder := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(admin, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return system
}

func dpkg(t *testing.T, system string, args ...string) {
	t.Helper()
	args = append([]string{"--root=" + system, "--log=/dev/null", "--force-not-root"}, args...)
	command := exec.Command("dpkg", args...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("dpkg %s: %v\n%s", args[0], err, out)
	}
}

// static fails a test whose program needs a library or an interpreter, or has symbols.
func static(t *testing.T, program string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is not static: it has %v", p.Type)
		}
	}
	if file.Section(".symtab") != nil {
		t.Error("the program has symbols")
	}
}
