package main

import (
	"context"
	"crypto/sha256"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A load is how busy the machine has been.
type load struct {
	mu      sync.Mutex
	samples []sample
}

// A sample says how many times longer than alone on a processor a piece of work took.
type sample struct {
	at   time.Time
	slow float64
}

const (
	// sampleEvery is small beside what a test may wait for, and large beside a sample.
	sampleEvery = 3 * time.Second

	// busy is how slow a machine is, on the average, that may fail tests which are right. Two more packages are tested
	// at once than there are processors: together they make it as slow by themselves at times.
	busy = 4
)

// burnWord makes this program the piece of work itself: how much of a processor it got is known of a process alone.
const burnWord = "burn"

// burn is a piece of work of some 20 ms.
func burn() {
	block := make([]byte, 1<<16)
	for range 300 {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
	}
}

// watch takes samples until ctx ends.
func (l *load) watch(ctx context.Context) {
	self, err := os.Executable()
	if err != nil {
		return // then nothing is known, and nothing excused
	}
	for ctx.Err() == nil {
		began := time.Now()
		if slow, ok := slowness(exec.CommandContext(ctx, self, burnWord)); ok {
			l.add(sample{at: began, slow: slow})
		}
		select {
		case <-ctx.Done():
		case <-time.After(sampleEvery):
		}
	}
}

// slowness runs a piece of work and compares how long it took with how long it had a processor.
func slowness(cmd *exec.Cmd) (slow float64, ok bool) {
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, false
	}
	took, had := time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return float64(took) / float64(max(had, time.Millisecond)), true
}

func (l *load) add(s sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
}

// since returns how slow the machine has been on the average since an instant. Zero: nothing is known, as of no load.
func (l *load) since(instant time.Time) float64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum float64
	n := 0
	for _, s := range l.samples {
		if !s.at.Before(instant) {
			sum += s.slow
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
