package main

import "net/url"

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
