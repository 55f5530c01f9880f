package holdfastvet_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// The programs and examples that people read are clean. So are the files of tests among them, which are looked at here.
func TestOwnExamples(t *testing.T) {
	vet := []string{"vet", "-vettool=" + tool(t), "-lostrelease.tests"}
	if isRace() {
		vet = append(vet, "-race") // then what they import is compiled already
	}
	said := complaints(t, "..", nil, "go", append(vet, ".", "./memlock", "./holdfasttest")...)
	said = slices.DeleteFunc(said, func(line string) bool { return !strings.Contains(line, "example") })
	if len(said) > 0 {
		t.Error(strings.Join(said, "\n"))
	}
}

func isRace() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

const forgetful = `package forgetful

import (
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast"
)

func ship(ctx context.Context, m *holdfast.Mutex, e *holdfast.Election, db *sql.DB) error {
	err := m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		_, err := db.ExecContext(ctx, "UPDATE a SET b = 1")
		return err
	})
	if err != nil {
		return err
	}
	leases, err := holdfast.LockAll(ctx, m)
	if err != nil {
		return err
	}
	err = e.Run(leases.Context(), "here", func(held context.Context, lease *holdfast.Lease) error {
		return db.PingContext(ctx)
	})
	if err != nil {
		return err
	}
	leases.Release(ctx)
	return nil
}
`

// The checks know the package as it is, and not only its likeness in testdata. What is opt-in comes when asked for.
func TestRealPackage(t *testing.T) {
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"forgetful.go": forgetful,
		"go.mod": "module example.com/forgetful\n\ngo 1.26.0\n\nrequire github.com/holdfast-go/holdfast v0.0.0\n\n" +
			"replace github.com/holdfast-go/holdfast => " + top + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := tool(t)
	for _, row := range []struct{ flag, want string }{
		{"-c=-1", "12 18 23 28"}, // the default, so all checks but what is opt-in
		{"-writewithouttoken", "12"},
		{"-lockctx=false", "18 28"},
	} {
		vet := []string{"vet", "-vettool=" + check, row.flag, "."}
		var lines []string
		for _, line := range complaints(t, folder, []string{"GOWORK=off", "GOFLAGS="}, "go", vet...) {
			lines = append(lines, at.FindStringSubmatch(line)[1])
		}
		slices.Sort(lines)
		if is := strings.Join(lines, " "); is != row.want {
			t.Errorf("%s complains of lines %q, want %q", row.flag, is, row.want)
		}
	}
}

// at matches a complaint, and not what belongs to the one before.
var at = regexp.MustCompile(`^\S+\.go:(\d+):\d+: \S`)

// tool is the command, built.
func tool(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "holdfastvet")
	if out, err := exec.Command("go", "build", "-o", name, "./cmd/holdfastvet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// complaints lists what a command complains of. It fails the test where that fails without any.
func complaints(t *testing.T, folder string, env []string, program string, args ...string) (lines []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); at.MatchString(line) {
			lines = append(lines, line)
		}
	}
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || len(lines) == 0) {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return lines
}
