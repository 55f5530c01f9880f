package quorum

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A claim is what this client knows about one of its claims. On the nodes it has another ID in each round, because an
// ID that was given back there is barred.
type claim struct {
	name, id string
	busy     chan struct{} // holds one element while the claim is requested

	alive     context.Context // ends with the claim
	kill      context.CancelFunc
	mu        sync.Mutex
	ask       driver.Claim // as it was requested last
	state     state
	token     uint64
	round     int
	held      []uint64 // by node: the token that the claim of this round has there; zero when it has none
	leaving   bool     // a release was sent: it alone finds out how the claim ended
	released  bool     // it ended since it was released
	contended bool     // others wait
	astray    int      // how many nodes beside the keeper of the line had nobody in line
	turns     int      // how many places in the line it has had
	turn      *turn    // its place in the line, until it ends
	follow    bool     // a request has said so
	hints     *hints   // that tell when to try again, while it is first in line
	alarm     *time.Timer
	alarmAt   time.Time // when it has the claim asked about; zero while it is off
	toppingUp bool      // the nodes that do not have it are about to be asked
	topUps    []topUp   // by node; nil until one was asked
	forget    time.Time // when it has long been dead
}

type state int

const (
	asked   state = iota // in a round, or given up after one
	waiting              // not granted, and to be asked for again
	held                 // granted
	over                 // released, or lost
)

// boundID is the longest ID that drivers take.
const boundID = 64

// roundID is the ID that a claim has on the nodes in a round: its own one in the first.
func roundID(id string, round int) string {
	if round <= 1 {
		return id
	}
	return withSuffix(id, "-"+strconv.Itoa(round))
}

// turnID is the ID that a claim has in the line, for its nth place there. It is that of no round: a node tells what
// happens to a claim, and keeps operations on it apart, by the ID alone, whatever the lock.
func turnID(id string, n int) string { return withSuffix(id, "-"+strconv.Itoa(n)+turnMark) }

// turnMark ends the IDs of places in line.
const turnMark = "t"

// withSuffix returns an ID of a bounded length, made of that of a claim.
func withSuffix(id, suffix string) string {
	if len(id)+len(suffix) > boundID {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:16])
	}
	return id + suffix
}

// roundOf returns the round in which a claim has this ID on a node.
func roundOf(id, onNode string) (round int, ok bool) {
	if onNode == id {
		return 1, true
	}
	cut := strings.LastIndexByte(onNode, '-')
	if cut < 0 {
		return 0, false
	}
	round, err := strconv.Atoi(onNode[cut+1:])
	return round, err == nil && round > 1 && roundID(id, round) == onNode
}

// isOf reports whether a claim has this ID on a node, in a round or in line.
func isOf(id, onNode string) bool {
	if _, ok := roundOf(id, onNode); ok {
		return true
	}
	n, ok := placeOf(onNode)
	return ok && turnID(id, n) == onNode
}

// placeOf returns the number in the ID of a place in line.
func placeOf(onNode string) (n int, ok bool) {
	marked, ok := strings.CutSuffix(onNode, turnMark)
	n, err := strconv.Atoi(marked[strings.LastIndexByte(marked, '-')+1:])
	return n, ok && err == nil
}

func newClaim(c driver.Claim, nodes int) *claim {
	cl := &claim{name: c.Name, id: c.ID, busy: make(chan struct{}, 1), held: make([]uint64, nodes)}
	cl.alive, cl.kill = context.WithCancel(context.Background())
	cl.extend(c)
	return cl
}

// extend notes that the claim was requested like this. Owner and value stay those of the first request, as on the
// nodes: a node that gets the claim later must show the same as the others.
func (cl *claim) extend(c driver.Claim) {
	if cl.ask.ID != "" {
		c.Owner, c.Value = cl.ask.Owner, cl.ask.Value
	}
	cl.ask = c
	cl.forget = time.Now().Add(claimTTLs * c.TTL)
}

// onNode returns the claim as a node knows it in this round.
func (cl *claim) onNode() driver.Claim {
	c := cl.ask
	c.Name, c.ID, c.Token, c.Queue = nodeName(cl.name), roundID(cl.id, cl.round), 0, false
	return c
}

// finish ends the claim and returns its place in the line, to be given up.
func (cl *claim) finish(released bool) (t *turn) {
	if cl.state == over {
		return nil
	}
	cl.state, cl.released = over, released
	cl.kill()
	cl.askNoMore()
	t, cl.turn = cl.turn, nil
	return t
}

// nodesHeld is on how many nodes the claim is.
func (cl *claim) nodesHeld() int {
	n := 0
	for _, token := range cl.held {
		if token != 0 {
			n++
		}
	}
	return n
}

func (cl *claim) ttl() time.Duration {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.ask.TTL
}

// claims are those of this client, by ID, and those that ended not long ago.
type claims struct {
	mu      sync.Mutex
	known   map[claimKey]*claim
	sweepAt int
}

// A claimKey is what a claim is known by: one with its ID on another lock is another claim.
type claimKey struct{ name, id string }

func (cl *claim) key() claimKey { return claimKey{cl.name, cl.id} }

const (
	claimTTLs  = 3 // after so many TTLs without a request a claim is dead, and nobody asks any more
	firstSweep = 1024
)

func newClaims() *claims { return &claims{known: make(map[claimKey]*claim), sweepAt: firstSweep} }

// find returns what is known about a claim, or nil.
func (cs *claims) find(c driver.Claim) *claim {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.known[claimKey{c.Name, c.ID}]
}

// add keeps a claim, unless one with its ID was added meanwhile, which is returned then.
func (cs *claims) add(cl *claim) *claim {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if known := cs.known[cl.key()]; known != nil {
		return known
	}
	cs.known[cl.key()] = cl
	if len(cs.known) > cs.sweepAt {
		cs.sweep()
	}
	return cl
}

func (cs *claims) drop(cl *claim) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.known[cl.key()] == cl {
		delete(cs.known, cl.key())
	}
}

// sweep forgets the dead. It runs each time the number of claims has doubled.
func (cs *claims) sweep() {
	now := time.Now()
	for key, cl := range cs.known {
		cl.mu.Lock()
		dead := cl.forget.Before(now)
		if dead {
			cl.finish(false)
		}
		cl.mu.Unlock()
		if dead {
			delete(cs.known, key)
		}
	}
	cs.sweepAt = max(firstSweep, 2*len(cs.known))
}

// occupy makes the caller the only one who requests the claim, until it calls the function that is returned.
func (cl *claim) occupy(ctx context.Context) (leave func(), err error) {
	select {
	case cl.busy <- struct{}{}:
		return func() { <-cl.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
