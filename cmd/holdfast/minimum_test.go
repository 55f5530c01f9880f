//go:build linux

package main

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// keptByUs is a backend that cannot keep a lock for a process that has ended.
type keptByUs struct{ driver.Driver }

func (d keptByUs) Traits() driver.Traits {
	t := d.Driver.Traits()
	t.Detach = false
	return t
}

// A signal that asked for the end while the command ran, whether the command ended by it, handled it, or had ended
// already, ends the wait of --at-least, too. A process that somebody wants to end does not sit out an hour.
func TestSignalEndsTheMinimum(t *testing.T) {
	for what, row := range map[string]struct {
		script string
		signal syscall.Signal
		code   int
	}{
		"the command ends by it": {"echo > ready; exec sleep 300", syscall.SIGTERM, 128 + int(syscall.SIGTERM)},
		"the command handles it": {handles, syscall.SIGINT, 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Chdir(t.TempDir())
			j, program := keptJob(t, row.script)
			go func() { // ends with the command at the latest
				for _, err := os.Stat("ready"); err != nil; _, err = os.Stat("ready") {
					time.Sleep(5 * time.Millisecond)
				}
				j.inbox.signals <- row.signal
			}()
			untilItEnds(t, func() {
				err := j.run(t.Context(), program)
				if e, ok := errors.AsType[*exit](err); !ok || e.code != row.code {
					t.Errorf("it ended with %v, want the code %d", err, row.code)
				}
			})
		})
	}
	t.Run("the command has ended", func(t *testing.T) {
		j, program := keptJob(t, "exit 0")
		if err := j.start(program); err != nil {
			t.Fatal(err)
		}
		j.began = true
		<-j.child.Done()
		j.noteAsked(syscall.SIGTERM)
		untilItEnds(t, func() { j.release(t.Context()) })
	})
}

// handles is a script that ends with 3 when it gets INT, which the shell of a background job ignores otherwise.
const handles = `trap 'exit 3' INT; echo > ready; while :; do sleep 0.01; done`

// keptJob is a job whose lock stays taken for an hour, for as long as this process keeps it.
func keptJob(t *testing.T, script string) (j *job, program string) {
	t.Helper()
	s := &store{driver: keptByUs{memlock.New()}}
	s.Client = holdfast.New(s.driver, holdfast.WithTTL(time.Hour), holdfast.WithMinHold(time.Hour))
	p := &plan{name: "job", command: []string{"sh", "-c", script}}
	p.runFlags = runFlags{ttl: time.Hour, grace: time.Minute, atLeast: time.Hour}
	p.onLost, p.onRevoke = lostTerm, revokeTerm
	lease, err := s.Mutex(p.name).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return jobOf(t, p, s, lease)
}

func untilItEnds(t *testing.T, call func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		call()
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Error("it still waits for the end of --at-least")
	}
}
