package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A shell makes an empty text of a variable that is not set. No verb takes one: it would mean another backend, all
// claims in the place of one, or nothing, where somebody meant something.
func TestNothingEmptyIsTaken(t *testing.T) {
	t.Setenv(backendEnv, "file:"+filepath.Join(t.TempDir(), "locks.db"))
	for _, c := range new(app).root().Commands() {
		args := argsOf(c)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "string" {
				refused(t, c.Name(), slices.Concat([]string{"--" + f.Name + "="}, args), "--"+f.Name+" is empty")
			}
		})
		for i, arg := range args {
			if arg != "--" && c.Name() != "help" {
				given := slices.Clone(args)
				given[i] = ""
				refused(t, c.Name(), given, "")
			}
		}
	}
}

// An environment that names an empty backend does not mean the file of this user either.
func TestNoEmptyBackendIsTakenFromTheEnvironment(t *testing.T) {
	for _, nothing := range []string{"", " \n"} {
		t.Setenv(backendEnv, nothing)
		refused(t, "ls", nil, "HOLDFAST_BACKEND is empty")
	}
}

// argsOf makes arguments that a verb takes, as its use says.
func argsOf(c *cobra.Command) []string {
	switch {
	case strings.Contains(c.Use, "-- COMMAND"):
		return []string{"name", "--", "true"}
	case strings.HasSuffix(c.Use, "bash|zsh|fish|powershell"):
		return []string{"bash"}
	case strings.Contains(c.Use, "HANDLE TEXT"):
		return []string{"any", "text"}
	case strings.HasSuffix(c.Use, "NAME"), strings.HasSuffix(c.Use, "HANDLE"), strings.HasSuffix(c.Use, "[PREFIX]"):
		return []string{"any"}
	default:
		return nil
	}
}

// refused runs a verb, which must find the command line wrong and say why, and print nothing else.
func refused(t *testing.T, verb string, args []string, why string) {
	t.Helper()
	out, said, code := whole(t, append([]string{verb}, args...)...)
	if code != exitUsage || out != "" || !strings.Contains(said, why) {
		t.Errorf("holdfast %s %q: exit code %d, printed %q, said %q; want %d, nothing, and %q", verb, args, code, out,
			said, exitUsage, why)
	}
}

// whole runs the whole command in this process, and returns what it prints and says.
func whole(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	folder := t.TempDir()
	files := make([]*os.File, 2)
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	code = run(t.Context(), args, streams{in: files[0], out: files[0], err: files[1]})
	return read(t, files[0].Name()), read(t, files[1].Name()), code
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
