package guard

import (
	"slices"
	"testing"
)

// Sockets and the watchdog of a service are for the command, under its own process ID.
func TestReaddress(t *testing.T) {
	env := []string{"A=7", "LISTEN_PID=7", "LISTEN_FDS=2", "LISTEN_FDNAMES=web:admin", "WATCHDOG_PID=7",
		"WATCHDOG_USEC=1000"}
	want := []string{"A=7", "LISTEN_PID=9", "LISTEN_FDS=2", "LISTEN_FDNAMES=web:admin", "WATCHDOG_PID=9",
		"WATCHDOG_USEC=1000"}
	if got := readdress(env, 7, 9); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := readdress(env, 8, 9); !slices.Equal(got, env) {
		t.Errorf("what is for another process became %q", got)
	}
	if !IsAddressed(env, 7) || IsAddressed(env, 77) || IsAddressed([]string{"LISTEN_PID="}, 7) {
		t.Error("it is not known for whom the environment is")
	}
}
