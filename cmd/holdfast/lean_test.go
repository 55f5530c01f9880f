//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// lean is a folder with this command as people have it, without the race detector, which makes it take several times
// as long. Each script runs with the race detector once. Empty: the tests are built without it themselves.
var lean string

// makeLean builds the programs of scripts without the race detector into a folder that the caller removes. Those beside
// the command itself are found there by all scripts from then on.
func makeLean(folder string) error {
	all := filepath.Join(folder, "all")
	if out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", all, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w: %s", err, out)
	}
	helpers := filepath.Join(folder, "helpers")
	lean = filepath.Join(folder, "lean")
	for name := range programs() {
		to := helpers
		if name == "holdfast" {
			to = lean
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := os.Link(all, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return os.Setenv("PATH", helpers+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// raced leaves a script the command with the race detector, as the tests have it.
func raced(*testscript.Env) {}

// leanly lets a script use the command as people have it.
func leanly(env *testscript.Env) {
	if lean != "" {
		env.Setenv("PATH", lean+string(os.PathListSeparator)+env.Getenv("PATH"))
	}
}
