//go:build unix

package faults

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/pace"
)

// A process that was stopped for longer than its lease lives sees so in its first look after waking, and another holds
// the lock by then, under a greater token.
func TestStoppedHolder(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		h := startHolder(t, b.url())
		signal(t, h, syscall.SIGSTOP)
		other := open(t, b.url())
		lease := lock(t, other, 10*ttl)
		signal(t, h, syscall.SIGCONT)
		if said := h.says(t); said != "lost" {
			t.Errorf("after waking the holder says %q", said)
		}
		if first, err := strconv.ParseUint(h.token, 10, 64); err != nil || lease.Token() <= first {
			t.Errorf("token %d after %s", lease.Token(), h.token)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The lock of a process that was killed is free within its TTL, and at once where the kernel tells.
func TestKilledHolder(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		pace.Run(t, "killed", func(t *pace.T) { killedHolder(t, b) })
	})
}

func killedHolder(t *pace.T, b backend) {
	t.Margin(ttl / 8)
	h := startHolder(t.T, b.url())
	waiting := make(chan time.Time, 1)
	other := open(t, b.url())
	go func() {
		lock(t.T, other, time.Minute).Release(t.Context())
		waiting <- time.Now()
	}()
	untilQueued(t.T, other, 2)
	signal(t.T, h, syscall.SIGKILL)
	killed := time.Now()
	took := (<-waiting).Sub(killed)
	if limit := t.Scaled(b.freedWithin(ttl)); took > limit {
		t.Errorf("free %v after the kill, want at most %v", took, limit)
	}
}

func signal(t *testing.T, h *holder, s syscall.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
