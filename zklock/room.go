package zklock

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// The end of a session is one change that names all nodes of the session. Servers write it to their logs whatever
// its size, but read nothing that is larger than their jute.maxbuffer: not from each other, and not from their own
// disks. So one session with too many nodes ends the ensemble with it. A session that is full takes no more
// claims, and a client begins another one.

// DefaultSessionBytes is the default of Options.SessionBytes: half of the default of ZooKeeper's jute.maxbuffer.
const DefaultSessionBytes = 512 << 10

// Bounds of what may be set: the nodes of a claim with a long name fit into the least.
const (
	leastSessionBytes = 16 << 10
	mostSessionBytes  = 1 << 30
)

// A room is how many bytes the nodes of a session may come to, and which there are or may be. Nodes are noted before
// they are made, and until it is known that they are gone.
type room struct {
	most int

	mu    sync.Mutex
	used  int
	nodes map[string]int // bytes by key
	stuck []string       // queues with claims that the server does not let go of: then it takes no more
}

// A place is what one node takes in its session's room.
type place struct {
	key   string // tells nodes apart
	bytes int
}

// placesOf are what a new claim needs: a place for its node, and one for its note.
func (d *Driver) placesOf(c driver.Claim) []place {
	queue := d.keys.queue(c.Name)
	return []place{
		{seatKey(queue, c.ID), lengthBytes + len(queue) + 1 + len(d.node(c, c.TTL)) + sequenceDigits},
		notePlace(d.keys.note(c.Name, c.ID)),
	}
}

// lengthBytes stand before each path in the change.
const lengthBytes = 4

func notePlace(path string) place { return place{path, lengthBytes + len(path)} }

// seatKey stands for the node of a claim, whose name the server completes.
func seatKey(queue, id string) string { return queue + "/" + id }

// take keeps places free for nodes, all or none. Those that are kept already take nothing.
func (r *room) take(places ...place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	more := 0
	for _, p := range places {
		if _, kept := r.nodes[p.key]; !kept {
			more += p.bytes
		}
	}
	if len(r.stuck) > 0 || r.used > 0 && r.used+more > r.most {
		return false
	}
	if r.nodes == nil {
		r.nodes = make(map[string]int)
	}
	for _, p := range places {
		r.nodes[p.key] = p.bytes
	}
	r.used += more
	return true
}

// closeFor lets the room take no more, because a claim in this queue is stuck, and reports whether there is no claim
// left but in queues where one is: those that are behind it wait for nothing else. Notes, whose keys begin with notes,
// are none.
func (r *room) closeFor(queue, notes string) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.stuck, queue) {
		r.stuck = append(r.stuck, queue)
	}
	for key := range r.nodes {
		if !strings.HasPrefix(key, notes) && !slices.Contains(r.stuck, path.Dir(key)) {
			return false
		}
	}
	return true
}

// give gives places back. Those that are not kept are ignored.
func (r *room) give(keys ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		r.used -= r.nodes[key]
		delete(r.nodes, key)
	}
}
