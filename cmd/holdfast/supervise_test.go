//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// leaves starts what leaves its group, and is killed when the file "go" is there.
const leaves = `setsid sh -c 'echo $$ > leaver; exec sleep 300' &
until test -s leaver -a -e go; do sleep 0.01; done
kill -KILL $$`

// A command that is killed when its time is over, as far as its guard was told, counts as one that lost its lock: what
// it left behind is ended, too. The guard may not have come to that, for it ends when the command does. Here it is
// stopped.
func TestWhatTheGuardLeavesIsEnded(t *testing.T) {
	for _, isLost := range []bool{true, false} { // or renewed, and the guard was not told
		t.Run(fmt.Sprintf("the lock is lost: %t", isLost), func(t *testing.T) {
			t.Chdir(t.TempDir())
			s := &store{driver: memlock.New()}
			s.Client = holdfast.New(s.driver)
			defer s.Client.Close(t.Context())
			p := &plan{name: "job", command: []string{"sh", "-c", leaves}}
			p.runFlags = runFlags{ttl: time.Hour, onLost: lostTerm, onRevoke: revokeTerm}
			lease, err := s.Mutex(p.name, holdfast.WithTTL(p.ttl)).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			j, program := jobOf(t, p, s, lease)
			if err := j.start(program); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(guardOf(t, os.Getpid()), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if isLost {
				breakHolder(t, s, p.name)
				<-lease.Done()
			}
			j.child.Until(time.Now) // which is over when it is told
			if err := os.WriteFile("go", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			<-j.child.Done()
			select {
			case <-j.child.Deserted():
				t.Error("the guard, which was stopped, is taken for one that has ended")
			default:
			}
			j.supervise()
			if j.lost == nil {
				t.Error("the lock does not count as lost")
			}
			if pid := leaver(t); isAlive(strconv.Itoa(pid)) {
				t.Error("what the command has left behind lives on")
				_ = syscall.Kill(pid, syscall.SIGKILL)
				<-j.child.Gone()
			}
		})
	}
}

// What a command has started is found and killed before the lease ends, and the guard begins before that, too.
func TestCommandIsKilledBeforeItsLeaseEnds(t *testing.T) {
	for _, row := range []struct {
		onLost                   string
		ttl, grace, killed, told time.Duration // killed, and told before, so long before the end
	}{
		{lostKill, 8 * time.Second, 0, 400 * time.Millisecond, 400 * time.Millisecond},
		{lostTerm, 8 * time.Second, 2 * time.Second, 400 * time.Millisecond, 2400 * time.Millisecond},
		{lostTerm, 9 * time.Second, 3 * time.Second, 450 * time.Millisecond, 3 * time.Second}, // no earlier
		{lostTerm, time.Hour, time.Second, 500 * time.Millisecond, 1500 * time.Millisecond},
		{lostIgnore, time.Hour, 0, 500 * time.Millisecond, 0},
	} {
		s := &store{driver: memlock.New()}
		s.Client = holdfast.New(s.driver)
		p := &plan{name: "job"}
		p.runFlags = runFlags{ttl: row.ttl, onLost: row.onLost, grace: row.grace}
		lease, err := s.Mutex(p.name, holdfast.WithTTL(p.ttl)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		j := &job{plan: p, lease: lease}
		if j.killTakes() != row.killed || j.margin() != row.told {
			t.Errorf("--on-lost %s --ttl %v --grace %v: told %v and killed %v before the end; want %v and %v",
				row.onLost, row.ttl, row.grace, j.margin(), j.killTakes(), row.told, row.killed)
		}
		if !j.limit().Before(lease.ValidUntil()) {
			t.Errorf("--on-lost %s --ttl %v: the guard comes after the end", row.onLost, row.ttl)
		}
		if err := j.danger(); err != nil {
			t.Errorf("--on-lost %s --ttl %v: lost at once: %v", row.onLost, row.ttl, err)
		}
		if err := s.Client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Where the TTL is the shortest that run takes, the command is told to end after a renewal was due, and not before.
func TestShortestTTL(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		c := holdfast.New(memlock.New())
		defer c.Close(t.Context())
		begin := time.Now()
		lease, err := c.Mutex("job", holdfast.WithTTL(leastTTL)).Lock(t.Context())
		ok(t, err)
		p := &plan{runFlags: runFlags{ttl: leastTTL, onLost: lostTerm, grace: leastTTL / graceShare}}
		j := &job{plan: p, lease: lease}
		if told := lease.ValidUntil().Add(-j.margin()).Sub(begin); told < leastTTL*4/10 {
			t.Errorf("told to end after %v of %v", told, leastTTL)
		}
	})
}

// leaver is the process that leaves.
func leaver(t *testing.T) (pid int) {
	t.Helper()
	text, err := os.ReadFile("leaver")
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// guardOf is the guard that a process has started.
func guardOf(t *testing.T, supervisor int) (pid int) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is one
	for _, path := range all {
		line, _ := os.ReadFile(path) // it may be gone by now
		if strings.Contains(string(line), "\x00--guard\x00"+strconv.Itoa(supervisor)+"\x00") {
			pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	t.Fatal("there is no guard")
	return 0
}
