package quorum

import (
	"hash/fnv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// On the nodes a lock has its own name, unless that begins with a tilde. Names that begin with one tilde are this
// package's own.
const (
	reserved = "~"
	turnName = "~turn/" // with the name of the lock: who waits for it, in line
	lifeName = "~life"  // who remembers what it granted: see node.examine
)

// nodeName returns the name that a lock has on the nodes. It never maps two names to one, nor any to ours.
func nodeName(name string) string {
	if strings.HasPrefix(name, reserved) {
		return reserved + name
	}
	return name
}

func turnLock(name string) string { return turnName + name }

// on names a lock, for an operation on it.
func on(name string) driver.Claim { return driver.Claim{Name: name} }

// longer is by how much the names on nodes may be longer than those of locks.
const longer = len(turnName)

// home is the node with which the search for one that keeps the line for a name begins: the same for all clients.
func home(name string, nodes int) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(nodes))
}
