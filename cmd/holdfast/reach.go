package main

import (
	"net/url"
	"os"
)

// A reach says who can share the locks of a backend.
type reach string

const (
	reachUser    reach = "user"    // programs of this user on this machine
	reachMachine reach = "machine" // programs on this machine
	reachNetwork reach = "network" // whoever reaches the servers
)

// reachOf tells by the URL who can share the locks; isOwn says that it is of the file of this user.
func reachOf(u *url.URL, isOwn bool) reach {
	switch {
	case isOwn:
		return reachUser
	case u.Scheme == "file", u.Scheme == "redis+unix":
		return reachMachine
	default:
		return reachNetwork
	}
}

// tellReach says on a terminal that nobody named a backend, so that the lock is only this user's on this machine. Who
// named the same file knows; so does the holdfast around this one, which has said it.
func (a *app) tellReach(p *plan) {
	if !a.backend.isOwn || a.json || p.quiet || !isTerminal(a.err) || os.Getenv(heldEnv) != "" {
		return
	}
	a.say("only programs of this user on this machine share %s; set %s to a server's URL to share it with others",
		printable(p.name), backendEnv)
}
