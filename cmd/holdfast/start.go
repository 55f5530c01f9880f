package main

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// A start is what holdfast alone shows: what one would do next, and where the locks are.
type start struct {
	Next    []step `json:"next"`
	Backend string `json:"backend"` // its URL, without its password
	Reach   reach  `json:"reach"`
}

// A step is a command that one would try.
type step struct {
	Command string `json:"command"`
	Reason  string `json:"reason"`
}

var firstSteps = []step{
	{"holdfast run backup -- ./backup.sh", "run a command under a lock: one at a time, the next one waits"},
	{"holdfast show backup", "who holds the lock, and who waits for it?"},
	{"holdfast doctor", "does the backend work, and is it set up safely?"},
}

// printStart is holdfast alone. It connects to nothing, and makes nothing.
func (a *app) printStart() error {
	_, u, err := a.backend.find()
	if err != nil {
		return err
	}
	s := start{Next: firstSteps, Backend: driver.Redact(u), Reach: reachOf(u, a.backend.isOwn)}
	if a.json {
		return printJSON(a.out, s)
	}
	_, err = fmt.Fprint(a.out, s)
	return err
}

func (s start) String() string {
	var b strings.Builder
	fmt.Fprint(&b, "Holdfast runs commands under locks that processes and machines share.\n\n")
	for _, n := range s.Next {
		fmt.Fprintf(&b, "  %-36s  %s\n", n.Command, n.Reason)
	}
	fmt.Fprintf(&b, "\nThe locks are in %s.\n%s\n", printable(s.Backend), s.Reach.advice())
	fmt.Fprintln(&b, "holdfast --help shows all verbs.")
	return b.String()
}

// advice tells who shares the locks, and how others could.
func (r reach) advice() string {
	switch r {
	case reachUser:
		return "Only programs of this user on this machine share them. " + widen
	case reachMachine:
		return "Only programs on this machine share them. " + widen
	default:
		return "Whoever reaches that server can share them."
	}
}

const widen = "To share them with other machines, set\n" + backendEnv +
	" to the URL of a server, like redis://HOST:6379."
