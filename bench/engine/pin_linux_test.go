package engine

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A server inherits its core from this process, which then goes to that of the client with all its threads.
func TestPin(t *testing.T) {
	usable, err := usableCores()
	if err != nil {
		t.Fatal(err)
	}
	for name, apart := range map[string]bool{"apart": true, "together": false} {
		t.Run(name, func(t *testing.T) {
			if apart && len(usable) < 2 {
				t.Skip("there is only one core")
			}
			client, server := strconv.Itoa(usable[0]), strconv.Itoa(usable[0])
			if apart {
				server = strconv.Itoa(usable[1])
			}
			threads := runtime.GOMAXPROCS(0)
			t.Cleanup(func() {
				runtime.GOMAXPROCS(threads)
				if err := stayOn(usable...); err != nil {
					t.Error(err)
				}
			})
			pin, err := PinNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			var status []byte
			if _, err := pin.Start(func() *Engine {
				status, err = exec.Command("cat", "/proc/self/status").Output()
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if got := fieldOf(string(status), "Cpus_allowed_list:\t", "\n"); got != server || err != nil {
				t.Errorf("what was started may use the cores %q, %v; want %s", got, err, server)
			}
			for _, got := range coresOfThreads(t) {
				if got != client {
					t.Errorf("a thread of this process may use the cores %q, want %s", got, client)
				}
			}
		})
	}
}

func coresOfThreads(t *testing.T) (cores []string) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		status, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/status")
		if err == nil {
			cores = append(cores, strings.TrimSpace(fieldOf(string(status), "Cpus_allowed_list:", "\n")))
		}
	}
	return cores
}

func TestPinIsAskedForByName(t *testing.T) {
	if p, err := PinNamed(""); err != nil || p != (Pin{}) {
		t.Errorf("no name: %v, %v; want none", p, err)
	}
	if _, err := PinNamed("tight"); err == nil {
		t.Error("a name that means nothing was taken")
	}
}
