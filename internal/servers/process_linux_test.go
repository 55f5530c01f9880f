package servers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A test process that is killed cannot clean up.
func TestDiesWithTheTestProcess(t *testing.T) {
	for _, row := range []struct {
		name  string
		start func(testing.TB, ...string) *servers.Server
	}{
		{"one process of ours", servers.Redis},
		{"a process for each connection, of another user", servers.Postgres},
	} {
		t.Run(row.name, func(t *testing.T) { diesWithTheTestProcess(t, row.start) })
	}
}

func diesWithTheTestProcess(t *testing.T, start func(testing.TB, ...string) *servers.Server) {
	t.Helper()
	if os.Getenv(asChild) != "" {
		s := start(t)
		fmt.Printf("\nserver %s %s\n", s.Addr, filepath.Dir(s.Dir))
		select {}
	}
	child := again(t, t.Name(), asChild+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	addr, left := "", ""
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		fmt.Sscanf(lines.Text(), "server %s %s", &addr, &left)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	child.Process.Kill()
	child.Wait()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) { // it may say goodbye
		t.Errorf("the server of a killed process lives: %v", err)
	}
	_ = os.RemoveAll(filepath.Dir(left)) // what of its servers still ends may write there
}

// A child is killed with the thread that started it, and Go ends threads as it likes.
func TestOutlivesTheThreadThatAskedForIt(t *testing.T) {
	s := servers.Redis(t)
	s.Stop(t)
	thread := inThread(func() { s.Restart(t) })
	awaitEnd(t, thread)
	if s.Pid == 0 {
		t.Fatal("it was not started")
	}
	connect(t, s.Addr)
}

// inThread runs f in a thread that ends with it, and returns that thread's number.
func inThread(f func()) (thread int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock it: then the thread ends with this goroutine, unless it is the first
		if thread = syscall.Gettid(); thread == os.Getpid() {
			thread = inThread(f)
			return
		}
		f()
	}()
	<-done
	return thread
}

func awaitEnd(t *testing.T, thread int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if _, err := os.Stat(filepath.Join("/proc/self/task", strconv.Itoa(thread))); errors.Is(err, os.ErrNotExist) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("thread %d does not end", thread)
		case <-time.After(time.Millisecond):
		}
	}
}
