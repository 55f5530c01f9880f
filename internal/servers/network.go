package servers

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A Network is network namespaces of a test's own: one for each server of a cluster, and a hub that they reach each
// other through. Tests cut servers off from each other there, while clients, which come over loopback, reach all of
// them. It ends with the test, or with the test's process however that ends.
type Network struct {
	hub   *os.File
	hosts []*os.File
	cuts  int
}

// NewNetwork makes namespaces for n servers. It needs the rights of root.
func NewNetwork(t testing.TB, n int) *Network {
	t.Helper()
	needNamespaces(t)
	net := &Network{hub: namespace(t)}
	inside(t, net.hub, "sh", "-c", "ip link set lo up && echo 1 > /proc/sys/net/ipv4/ip_forward")
	for i := range n {
		net.hosts = append(net.hosts, namespace(t))
		net.connect(t, i)
	}
	return net
}

// connect joins a server's namespace to the hub.
func (n *Network) connect(t testing.TB, i int) {
	t.Helper()
	link := fmt.Sprintf("host%d", i)
	inside(t, n.hub, "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", pathOf(n.hosts[i]))
	inside(t, n.hub, "ip", "addr", "add", n.gate(i)+"/30", "dev", link)
	inside(t, n.hub, "ip", "link", "set", link, "up")
	for _, line := range []string{
		"link set lo up", "addr add " + n.IP(i) + "/30 dev eth0", "link set eth0 up",
		"route add default via " + n.gate(i),
	} {
		inside(t, n.hosts[i], "ip", strings.Fields(line)...)
	}
}

// IP is the address of server i for the others.
func (n *Network) IP(i int) string { return fmt.Sprintf("10.77.%d.2", i) }

func (n *Network) gate(i int) string { return fmt.Sprintf("10.77.%d.1", i) }

// Cut loses all packets from one server to another, from now on. Clients are not concerned.
func (n *Network) Cut(t testing.TB, from, to int) {
	t.Helper()
	n.cuts++
	inside(t, n.hub, "ip", "rule", "add", "pref", fmt.Sprint(n.cuts), "from", n.IP(from), "to", n.IP(to), "blackhole")
}

// CutOff loses all packets between a server and the others, both ways.
func (n *Network) CutOff(t testing.TB, i int) {
	t.Helper()
	for other := range n.hosts {
		if other != i {
			n.Cut(t, i, other)
			n.Cut(t, other, i)
		}
	}
}

// Heal ends all cuts.
func (n *Network) Heal(t testing.TB) {
	t.Helper()
	for ; n.cuts > 0; n.cuts-- {
		inside(t, n.hub, "ip", "rule", "del", "pref", fmt.Sprint(n.cuts))
	}
}

// in returns the kind of server that runs as this one does, on server i's side of the network, and listens there on
// this port.
func (n *Network) in(t testing.TB, i int, port string, k kind) kind {
	t.Helper()
	program, args := k.program, k.args
	k.program = "nsenter"
	k.args = func(s *Server) []string {
		return append([]string{"--net=" + pathOf(n.hosts[i]), program}, args(s)...)
	}
	k.publish = func(addr string) { n.publish(t, addr, i, port) }
	return k
}

// pathOf is where other processes find a namespace.
func pathOf(ns *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), ns.Fd()) }
