//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// endWithScript has all that runs in the folder of a script killed when the script fails. What ignores other signals
// would live on, and as it may write to where testscript reads, that would wait for it.
func endWithScript(env *testscript.Env) {
	env.Defer(func() {
		for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
			left := inFolder(env.WorkDir)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone by now
			}
			if len(left) == 0 {
				return
			}
		}
	})
}

// inFolder returns the processes that run there, or below it.
func inFolder(folder string) (pids []int) {
	places, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is one
	for _, place := range places {
		at, err := os.Readlink(place)
		if err != nil || at != folder && !strings.HasPrefix(at, folder+"/") {
			continue // it has ended, or is another's
		}
		var pid int
		if _, err := fmt.Sscanf(place, "/proc/%d/cwd", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A script that fails while something runs that ignores signals ends, and so does that.
func TestFailedScriptEnds(t *testing.T) {
	t.Parallel()
	const script = "exec sh stubborn.sh &stubborn&\nawait test -s leaver\nfalse\n" +
		"-- stubborn.sh --\ntrap '' TERM INT\n" +
		"setsid sh -c 'trap \"\" TERM INT; echo $$ > leaver; while :; do sleep 0.1; done' &\n" +
		"while :; do sleep 0.1; done\n"
	file := filepath.Join(t.TempDir(), "fails.txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &scripted{T: t}
	var folder string
	over := make(chan struct{})
	go func() {
		defer close(over)
		testscript.RunT(s, testscript.Params{Files: []string{file}, Setup: func(env *testscript.Env) error {
			folder = env.WorkDir
			prepare(env, "")
			return nil
		}})
	}()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("the script failed, and does not end")
	}
	if !s.failed {
		t.Error("the script passes")
	}
	if left := inFolder(folder); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
}

// scripted is a test that may fail.
type scripted struct {
	*testing.T
	failed bool
}

func (s *scripted) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(s)
	}()
	<-done
}

func (s *scripted) Fatal(args ...any) {
	s.Log(args...)
	s.FailNow()
}

func (s *scripted) FailNow() {
	s.failed = true
	runtime.Goexit()
}

func (s *scripted) Parallel()     {}
func (s *scripted) Verbose() bool { return false }
