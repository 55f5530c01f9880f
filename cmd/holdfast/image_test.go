//go:build linux

package main

import (
	"bufio"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The image has one static program, which nobody runs as root, and what TLS needs. Nothing here builds images: what
// the file says is read, and its command is run.
func TestImage(t *testing.T) {
	t.Parallel()
	const top = "../.."
	steps := instructions(t, filepath.Join(top, "Dockerfile"))
	last := slices.Index(steps, "FROM scratch")
	if last < 0 {
		t.Fatal("the image is not made from scratch")
	}
	const certificates = "/etc/ssl/certs/ca-certificates.crt" // where crypto/x509 looks
	want := []string{
		"COPY --from=build " + certificates + " " + certificates,
		"COPY --from=build /holdfast /holdfast",
		"USER 65532:65532",
		`ENTRYPOINT ["/holdfast"]`,
	}
	if got := steps[last+1:]; !slices.Equal(got, want) {
		t.Errorf("the image is made by %q, want %q", got, want)
	}

	program := filepath.Join(t.TempDir(), "holdfast")
	isStatic(t, builtBy(t, top, steps[:last], program))
	out, err := exec.Command(program, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "holdfast v1.2.3 go") {
		t.Errorf("version: %v, %q; want that of the argument VERSION", err, out)
	}
	tellsVersionAtOnce(t, program, string(out))
}

// tellsVersionAtOnce fails unless a release tells its version without its engines, and in any way as the same.
func tellsVersionAtOnce(t *testing.T, program, version string) {
	t.Helper()
	cmd := exec.Command(program, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	packages := initialised(string(out))
	isAlone := hasPrefix(packages, "os") && !hasPrefix(packages, "main")
	if err != nil || !strings.HasSuffix(string(out), version) || !isAlone {
		t.Errorf("--version: %v, %s; want %q, without what else the program has", err, out, version)
	}
	out, err = exec.Command(program, "version", "--json").Output()
	if err != nil || !strings.Contains(string(out), `"version":"v1.2.3"`) {
		t.Errorf("version --json: %v, %s; want v1.2.3", err, out)
	}
	out, err = exec.Command("sh", "-c", program+" version > /dev/full").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no space left") {
		t.Errorf("version, with nowhere to write it: %v, %q; want to be told", err, out)
	}
}

// instructions are the lines of a Dockerfile that are none of comments.
func instructions(t *testing.T, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	ok(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// builtBy runs the command of the first stage, without most engines, since that is quicker. It returns the program,
// which is elsewhere than in the image.
func builtBy(t *testing.T, top string, steps []string, program string) string {
	t.Helper()
	runs := slices.IndexFunc(steps, func(s string) bool { return strings.HasPrefix(s, "RUN ") })
	if runs < 0 {
		t.Fatal("no instruction runs a command")
	}
	command := strings.Replace(strings.TrimPrefix(steps[runs], "RUN "), "-o /holdfast ", "-o "+program+" ", 1)
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "TAGS=no_sqlite no_redis no_mysql no_postgres no_etcd", "VERSION=v1.2.3")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return program
}

// isStatic fails if a program needs an interpreter or libraries, of which the image has none.
func isStatic(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	ok(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs an interpreter; build it with CGO_ENABLED=0")
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program needs %q, %v; want no libraries", libraries, err)
	}
}
