//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The commands of docs/running.md do what the page says: each is run, with programs that only say their names, and ends
// well.
func TestPageOfRunning(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(t, string(text))
	if len(commands) < 7 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	script := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(script, []byte(scriptOf(commands)), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Setup: func(env *testscript.Env) error {
			prepare(env, "file:"+env.WorkDir+"/locks.db")
			env.Setenv("PATH", env.WorkDir+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
	})
}

// fenced is a block of a page, with its language.
var fenced = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```")

// commandsOf returns the commands of a page, as scripts for a shell: blocks of sh, and what cron, systemd, Kubernetes
// and workflows start in the others.
func commandsOf(t *testing.T, text string) (commands []string) {
	t.Helper()
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		language, content := block[1], block[2]
		if language == "sh" {
			commands = append(commands, content)
			continue
		}
		for line := range strings.Lines(content) {
			if c := startedBy(t, language, strings.TrimSpace(line)); c != "" {
				commands = append(commands, c)
			}
		}
	}
	return commands
}

// startedBy returns the command that a line of a block has started; none in most lines.
func startedBy(t *testing.T, language, line string) string {
	t.Helper()
	switch language {
	case "cron":
		if fields := strings.SplitN(line, " ", 6); len(fields) == 6 {
			return fields[5]
		}
	case "ini":
		if c, ok := strings.CutPrefix(line, "ExecStart="); ok {
			return c
		}
	case "yaml":
		if c, ok := strings.CutPrefix(line, "- run: "); ok {
			return c
		}
		if list, ok := strings.CutPrefix(line, "command: "); ok {
			var words []string
			if err := json.Unmarshal([]byte(list), &words); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return strings.Join(words, " ")
		}
	default:
		t.Fatalf("the page has a block of %q, of which this test knows nothing", language)
	}
	return ""
}

// jobs are the programs that the page starts.
var jobs = []string{"backup.sh", "build.sh", "deploy.sh", "report.sh", "report", "scheduler"}

// scriptOf is a test script that runs each command with a backend of its own, so that none finds what another one left
// taken. Programs have no other place than the folder of the script.
func scriptOf(commands []string) string {
	var steps, files strings.Builder
	for _, job := range jobs {
		fmt.Fprintf(&steps, "chmod 755 %s\n", job)
		fmt.Fprintf(&files, "-- %s --\n#!/bin/sh\necho ran %[1]s\n", job)
	}
	here := strings.NewReplacer("/usr/bin/", "", "/usr/local/bin/", "")
	for i, c := range commands {
		fmt.Fprintf(&steps, "env HOLDFAST_BACKEND=file:$WORK/%d.db\nexec sh %[1]d.sh\nstdout 'ran |done'\n", i)
		fmt.Fprintf(&files, "-- %d.sh --\n%s\n", i, strings.TrimSpace(here.Replace(c)))
	}
	return steps.String() + files.String()
}
