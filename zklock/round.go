package zklock

import (
	"context"
	"net"
	"slices"
	"time"
)

// A server has the name that it was given, host:port, and an address that this stands for now.
type server struct{ name, addr string }

// A round is the servers that a session tries, one after the other. Names are looked up anew for each round,
// because servers move, and a name may stand for several. One goroutine at a time uses it.
type round struct {
	names   []string
	lookUp  func(names []string) []server
	shunned *shunned
	first   int // where it begins; any number
	servers []server
	left    int // that were not tried
}

// next returns the next server, leaving out those that are shunned while there are others.
func (r *round) next() server {
	for {
		if r.left == 0 {
			r.servers = r.lookUp(r.names)
			r.left = len(r.servers)
		}
		s := r.servers[(r.first+len(r.servers)-r.left)%len(r.servers)]
		if r.left--; !r.shunned.has(s.addr) || r.allShunned() {
			return s
		}
	}
}

func (r *round) allShunned() bool {
	return !slices.ContainsFunc(r.servers, func(s server) bool { return !r.shunned.has(s.addr) })
}

// lookUpTime bounds how long names are looked up.
const lookUpTime = 2 * time.Second

// servers returns what names stand for. One that cannot be looked up stands for itself: whoever connects learns
// why. The program's own way to connect gets the names.
func (d *Driver) servers(names []string) (all []server) {
	ctx, cancel := context.WithTimeout(d.lifetime, lookUpTime)
	defer cancel()
	for _, name := range names {
		host, port, err := net.SplitHostPort(name)
		var addrs []string
		if err == nil && d.opts.Dial == nil {
			addrs, err = d.lookUp(ctx, host)
		}
		if err != nil || len(addrs) == 0 {
			all = append(all, server{name, name})
		}
		for _, addr := range addrs {
			all = append(all, server{name, net.JoinHostPort(addr, port)})
		}
	}
	return all
}
