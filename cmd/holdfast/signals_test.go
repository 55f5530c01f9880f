package main

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// A signal that comes while a wait ends is told of by the wait, or by whoever looks into the inbox next.
func TestNoSignalIsLost(t *testing.T) {
	for i := range 2000 {
		b := &inbox{signals: make(chan os.Signal, 1)}
		outer, cancel := context.WithCancel(t.Context())
		ctx, done := (&plan{runFlags: runFlags{wait: 1 << 40}}).patience(b.until(outer))
		if i%2 == 0 {
			go cancel()
		}
		b.signals <- syscall.SIGTERM
		done()
		cancel()
		if told, kept := isInterrupt(context.Cause(ctx)), len(b.signals) == 1; told == kept {
			t.Fatalf("wait %d: told %t, kept %t", i, told, kept)
		}
	}
}
