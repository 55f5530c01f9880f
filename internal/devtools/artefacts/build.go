package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A target is a system and a kind of processor, in Go's words.
type target struct{ system, arch string }

func (t target) String() string { return t.system + "/" + t.arch }

// program is the name of the command's file.
func (t target) program() string {
	if t.system == "windows" {
		return "holdfast.exe"
	}
	return "holdfast"
}

// build makes the binary: static, without symbols, and without the folder it was built in. It has the commit that it
// was built from, which the go command takes from git; the linker is told it for an answer that needs nothing else.
func (m *maker) build(t target) error {
	const build = "github.com/holdfast-go/holdfast/cmd/holdfast/internal/release.build"
	told := "-X '" + build + "=" + m.version + " " + m.commit + "'"
	return m.goRun([]string{"GOOS=" + t.system, "GOARCH=" + t.arch, "CGO_ENABLED=0"},
		"build", "-trimpath", "-buildvcs=true", "-tags", "grpcnotrace", "-ldflags", "-s -w "+told,
		"-o", m.binary(t), "./cmd/holdfast")
}

func (m *maker) binary(t target) string { return m.at(t.system+"-"+t.arch, t.program()) }

// documents makes the manual pages and the completions, with the command itself.
func (m *maker) documents() error {
	env := []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", m.date.Unix()), "CGO_ENABLED=0"}
	program := m.at("with-man")
	if err := m.goRun(env, "build", "-trimpath", "-tags", "man", "-o", program, "./cmd/holdfast"); err != nil {
		return err
	}
	for _, folder := range []string{"man", "completions"} {
		if err := os.MkdirAll(m.at(folder), 0o755); err != nil {
			return err
		}
	}
	pages := exec.Command(program, "man", m.at("man"))
	pages.Env = append(os.Environ(), env...)
	if out, err := pages.CombinedOutput(); err != nil {
		return fmt.Errorf("holdfast man: %w: %s", err, out)
	}
	for shell, name := range completions {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("holdfast completion %s: %w", shell, err)
		}
		if err := os.WriteFile(m.at("completions", name), script, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// completions are the names by which shells look for the completion of a command.
var completions = map[string]string{
	"bash": "holdfast", "zsh": "_holdfast", "fish": "holdfast.fish", "powershell": "holdfast.ps1",
}

// goRun runs the go command in the checkout.
func (m *maker) goRun(env []string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.top
	cmd.Env = append(os.Environ(), append(env, "GOWORK="+filepath.Join(m.top, "go.work"), "GOFLAGS=")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, out)
	}
	return nil
}
