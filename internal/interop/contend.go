package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/effort"
)

// A Client is a program, and the arguments that two processes of it get.
type Client struct {
	Program
	Args []string
}

// MinVisits is how many visits show that a process does not starve. At least a third of them are of one way.
const MinVisits = 9

// sharing is how long processes share a lock: a few seconds, and a minute with HOLDFAST_SOAK.
func sharing() time.Duration { return effort.Pick(3*time.Second, time.Minute) }

// Contend lets two processes of each client enter one section together, and returns what is wrong with that: two were
// inside that must not be, or a process was there less than often, or not in all of these ways. On a busy machine
// that takes longer, until everybody was inside often enough, or for a minute at most.
func Contend(t *testing.T, ways []string, often int, clients ...Client) (wrong []string) {
	t.Helper()
	folder := New(t)
	peers := startAll(t, folder, clients)
	for _, p := range peers {
		p.Tell()
	}
	began := time.Now()
	for isSeldom := func(p *Peer) bool { return p.said.count() < often }; ; {
		if took := time.Since(began); took > patience || took > sharing() && !slices.ContainsFunc(peers, isSeldom) {
			break
		}
		time.Sleep(20 * time.Millisecond) // that they share the lock for a while is what is tested
	}
	for _, p := range peers {
		p.input.Close()
	}
	said := make(map[string][]string)
	for _, p := range peers {
		said[p.name] = p.Finish()
		t.Logf("%s was inside %d times", p.name, len(said[p.name]))
	}
	return Section{Folder: folder}.judge(said, max(often/3, 1), ways...)
}

// startAll starts the processes of the clients.
func startAll(t *testing.T, folder string, clients []Client) (peers []*Peer) {
	t.Helper()
	for _, c := range clients {
		for i := range 2 {
			peers = append(peers, c.launch(t, folder, fmt.Sprintf("%s %d", strings.ReplaceAll(c.Name, "/", "-"), i+1),
				c.Args...))
		}
	}
	for _, p := range peers {
		p.Expect("ready")
	}
	return peers
}
