package proof

import (
	"os/exec"
	"testing"
)

// A process that panics is no visitor that was killed.
func TestBrokeDown(t *testing.T) {
	for script, want := range map[string]bool{
		"exit 0": false, "exit 1": false, "exit 2": true, "exit 66": true, "exit 75": false, "kill -9 $$": false,
	} {
		if got := brokeDown(exec.Command("sh", "-c", script).Run()); got != want {
			t.Errorf("%s: %v, want %v", script, got, want)
		}
	}
}
