//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// A command that was killed when its lease was over, as its guard does when we are late, counts as one that lost its
// lock: what it left behind is ended, too. The guard may not have come to that, for it ends when the command does.
func TestWhatTheGuardLeavesIsEnded(t *testing.T) {
	for range 8 { // what is noticed first is left to chance
		backend := memlock.New()
		s := &store{Client: holdfast.New(backend), driver: backend}
		leaver := filepath.Join(t.TempDir(), "leaver")
		p := &plan{name: "job", command: []string{"sh", "-c",
			"setsid sh -c 'echo $$ > " + leaver + "; exec sleep 300' & until test -s " + leaver +
				"; do sleep 0.01; done; kill -KILL $$"}}
		p.runFlags = runFlags{ttl: time.Minute, onLost: lostTerm, onRevoke: revokeTerm, noGuard: true}
		lease, err := s.Mutex(p.name, holdfast.WithMaxHold(time.Nanosecond)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		<-lease.Done()
		j, program := jobOf(t, p, s, lease)
		if err := j.start(program); err != nil {
			t.Fatal(err)
		}
		<-j.child.Done()
		j.supervise()
		text, err := os.ReadFile(leaver)
		if err != nil {
			t.Fatal(err)
		}
		pid := strings.TrimSpace(string(text))
		if isAlive(pid) {
			t.Error("what the command has left behind lives on")
			id, _ := strconv.Atoi(pid)
			_ = syscall.Kill(id, syscall.SIGKILL)
			<-j.child.Gone()
		}
		if j.lost == nil {
			t.Error("the lock does not count as lost")
		}
		_ = s.Client.Close(t.Context())
	}
}
