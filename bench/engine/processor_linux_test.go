package engine

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a thread has used is not forgotten when it ends, as those of a Java server that compile do.
func TestProcessorTimeOfThreadsThatEnded(t *testing.T) {
	busy, end := make(chan int), make(chan struct{})
	onThreadThatEnds(func() {
		for usedByThread(t) < 50*time.Millisecond {
		}
		busy <- unix.Gettid()
		<-end
	})
	thread := <-busy
	before, ok := processorTime(os.Getpid(), false)
	if !ok || before < 50*time.Millisecond {
		t.Fatalf("this process has used %v, %v", before, ok)
	}
	close(end)
	for {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); err != nil {
			break
		}
		runtime.Gosched()
	}
	if after, _ := processorTime(os.Getpid(), false); after < before {
		t.Errorf("this process had used %v, and after a thread ended %v", before, after)
	}
}

// onThreadThatEnds starts do on a thread that ends with it, which the first one of a process never does.
func onThreadThatEnds(do func()) {
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			onThreadThatEnds(do) // elsewhere, because this thread is taken
			runtime.UnlockOSThread()
			close(started)
			return
		}
		close(started)
		do()
	}()
	<-started
}

func usedByThread(t *testing.T) time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		t.Error(err)
		return time.Hour
	}
	return time.Duration(used.Nano())
}
