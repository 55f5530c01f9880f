package guard

import (
	"slices"
	"strconv"
	"strings"
)

// addressed are the environment variables by which a service manager names the one process that they are for, as
// systemd does for sockets that it has opened and for its watchdog. A process that finds another number there ignores
// what it was given.
var addressed = []string{"LISTEN_PID", "WATCHDOG_PID"}

// IsAddressed reports whether an environment is meant for the process with this ID. A command can only get it under its
// own ID, which is known once its process is there.
func IsAddressed(env []string, pid int) bool {
	return slices.ContainsFunc(env, func(line string) bool { return isAddressedTo(line, pid) })
}

func isAddressedTo(line string, pid int) bool {
	name, value, _ := strings.Cut(line, "=")
	return slices.Contains(addressed, name) && value == strconv.Itoa(pid)
}

// readdress returns an environment in which what was meant for one process is meant for another. What was meant for a
// third stays as it is.
func readdress(env []string, from, to int) []string {
	env = slices.Clone(env)
	for i, line := range env {
		if isAddressedTo(line, from) {
			name, _, _ := strings.Cut(line, "=")
			env[i] = name + "=" + strconv.Itoa(to)
		}
	}
	return env
}
