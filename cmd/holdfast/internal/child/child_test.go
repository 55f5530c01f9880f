//go:build linux

package child

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// The command is waited for when its guard is gone: from then on another group may get its ID.
func TestGuardEndsFirst(t *testing.T) {
	for range 10 {
		c, err := Start(Command{Path: "/bin/true", Args: []string{"true"}, Stdin: os.Stdin, Out: os.Stdout,
			Err: os.Stderr, Until: func() time.Time { return time.Now().Add(time.Hour) }})
		if err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		if pid := c.guard.ID(); pid != 0 {
			t.Errorf("guard %d may kill the group when the ID of that is free", pid)
		}
		<-c.Gone()
	}
}

// A command whose guard ends before it is told of, and runs on. One that ends first leaves no doubt.
func TestDeserted(t *testing.T) {
	for _, deserted := range []bool{true, false} {
		in, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c, err := Start(Command{
			Path: "/bin/cat", Args: []string{"cat"}, Stdin: in, Out: os.Stdout, Err: os.Stderr,
			Until: func() time.Time { return time.Now().Add(time.Hour) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if deserted {
			if err := syscall.Kill(c.guard.ID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-c.Deserted()
		}
		select {
		case <-c.Done():
			t.Error("the command ended before its input")
		default:
		}
		_, _ = hold.Close(), in.Close()
		<-c.Gone()
		select {
		case <-c.Deserted():
			if !deserted {
				t.Error("a guard that was dismissed is missed")
			}
		default:
		}
		if err := c.Signal(syscall.SIGKILL); err != syscall.ESRCH {
			t.Errorf("a signal when nothing of it lives: %v; want %v, whoever has its number", err, syscall.ESRCH)
		}
	}
}
