package hall

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Guest is a program, and the arguments that two processes of it get.
type Guest struct {
	Program
	Args []string
}

// Often is how many visits show that a process does not starve. At least a third of them are of one way.
const Often = 9

// Together is how long processes share a lock: a few seconds, and a minute with HOLDFAST_SOAK.
func Together() time.Duration {
	if os.Getenv("HOLDFAST_SOAK") != "" {
		return time.Minute
	}
	return 3 * time.Second
}

// Gather lets two processes of each guest enter one hall together, and returns what is wrong with that: two were inside
// that must not be, or a process was there less than often, or not in all of these ways. On a busy machine that takes
// longer, until everybody was inside often enough, or for a minute at most.
func Gather(t *testing.T, ways []string, often int, guests ...Guest) (wrong []string) {
	t.Helper()
	folder := New(t)
	peers := invite(t, folder, guests)
	for _, p := range peers {
		p.Tell()
	}
	began := time.Now()
	for isSeldom := func(p *Peer) bool { return p.said.count() < often }; ; {
		if took := time.Since(began); took > patience || took > Together() && !slices.ContainsFunc(peers, isSeldom) {
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
	return Hall{Folder: folder}.judge(said, max(often/3, 1), ways...)
}

// invite starts the processes of the guests.
func invite(t *testing.T, folder string, guests []Guest) (peers []*Peer) {
	t.Helper()
	for _, g := range guests {
		for i := range 2 {
			peers = append(peers, g.launch(t, folder, fmt.Sprintf("%s %d", strings.ReplaceAll(g.Name, "/", "-"), i+1), g.Args...))
		}
	}
	for _, p := range peers {
		p.Expect("ready")
	}
	return peers
}
