package servers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A thread that waits until a time of the clock that it sees waits for as long as it means to. One that did not would
// keep a processor busy, and slow down everything beside it.
func TestWaitsOnClock(t *testing.T) {
	clock := NewClock(t)
	program := filepath.Join(t.TempDir(), "waits")
	if out, err := exec.Command("gcc", "-pthread", "-o", program, "testdata/waits.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	for _, ahead := range []time.Duration{0, -time.Hour, time.Hour} {
		clock.Set(t, ahead)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // instead of an hour
		out, err := exec.CommandContext(ctx, "env", append(clock.env(), program)...).Output()
		cancel()
		var wall, monotonic int
		if _, scanned := fmt.Sscan(string(out), &wall, &monotonic); err != nil || scanned != nil {
			t.Fatalf("it says %q, %v, %v", out, err, scanned)
		}
		if wall < 199 || monotonic < 199 {
			t.Errorf("%v ahead, 200 ms took %d ms by the wall clock, %d by the other", ahead, wall, monotonic)
		}
	}
}
