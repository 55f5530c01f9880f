package zklock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// together is how long processes share a lock.
func together() time.Duration {
	if soak() {
		return time.Minute
	}
	return 3 * time.Second
}

// A guest is a program, and what two processes of it do.
type guest struct {
	program
	what string
}

// gather lets two processes of each guest enter one hall for a while, and returns what is wrong with that. On a
// busy machine that takes longer, until everybody was inside often enough, or for a minute at most.
func gather(t *testing.T, ways []string, guests ...guest) (wrong []string) {
	t.Helper()
	server, folder := servers.ZooKeeper(t).Addr, newHall(t)
	peers := invite(t, server, folder, guests)
	for _, p := range peers {
		p.tell()
	}
	driver.Sleep(t.Context(), together()) // that is what is tested
	for busy := limit(t); busy.Err() == nil && slices.ContainsFunc(peers, isSeldom); driver.Sleep(busy, 20*time.Millisecond) {
	}
	for _, p := range peers {
		p.input.Close()
	}
	said := make(map[string][]string)
	for _, p := range peers {
		said[p.name] = p.finish()
		t.Logf("%s was inside %d times", p.name, len(said[p.name]))
	}
	return hall{folder: folder}.judge(said, often/3, ways...)
}

// often is how many visits show that a process does not starve. At least a third of them are of one way.
const often = 9

// isSeldom reports whether a process was inside less than often, as on a machine that does much else.
func isSeldom(p *peer) bool { return p.said.count() < often }

// invite starts the processes of the guests.
func invite(t *testing.T, server, folder string, guests []guest) (peers []*peer) {
	t.Helper()
	for _, g := range guests {
		for i := range 2 {
			peers = append(peers, g.launch(t, fmt.Sprintf("%s %d", g.name, i+1), server, "/jobs/nightly", g.what, folder))
		}
	}
	for _, p := range peers {
		p.expect("ready")
	}
	return peers
}

var (
	alone = []string{"wrote"}
	both  = []string{"wrote", "read"}
)

// Two processes of ours and two of each peer's share a lock: never two are inside that must not be, and nobody starves.
func TestBesidePeers(t *testing.T) {
	t.Parallel()
	curator := curator(t)
	for name, row := range map[string]struct {
		ways   []string
		guests []guest
	}{
		"Curator's InterProcessMutex":          {alone, []guest{{oursAsCurator, "visit"}, {curator, "visit"}}},
		"Curator's InterProcessReadWriteLock":  {both, []guest{{oursAsCurator, "share"}, {curator, "share"}}},
		"go-zookeeper's Lock":                  {alone, []guest{{oursAsCurator, "visit"}, {zkLock, "visit"}}},
		"kazoo's Lock that respects Curator's": {alone, []guest{{oursAsCurator, "visit"}, {kazoo, "both"}}},
		"all that respect each other":          {alone, []guest{{oursAsCurator, "visit"}, {curator, "visit"}, {zkLock, "visit"}}},
		"zk.Lock and kazoo, in its layout":     {alone, []guest{{oursAsKazoo, "visit"}, {zkLock, "visit"}, {kazoo, "both"}}},
		"kazoo's Lock":                         {alone, []guest{{oursAsKazoo, "visit"}, {kazoo, "visit"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range gather(t, row.ways, row.guests...) {
				t.Error(w)
			}
		})
	}
}

// Curator and kazoo do not respect each other, whatever we do; told to, kazoo respects Curator, which stays as it is.
func TestPeersDisregardEachOther(t *testing.T) {
	t.Parallel()
	server, curator := servers.ZooKeeper(t).Addr, curator(t)
	for path, both := range map[string][]program{"/first-curator": {curator, kazoo}, "/first-kazoo": {kazoo, curator}} {
		var holders []*peer
		for _, p := range both {
			holder := p.start(t, p.name, server, path, "hold", t.TempDir())
			holder.tell()
			holder.expect("held")
			holders = append(holders, holder)
		}
		for _, holder := range holders {
			holder.tell()
			holder.expect("released")
		}
	}
}

// Ours respect both of them and are respected, also where those two are inside together.
func TestBetweenPeersThatDisregardEachOther(t *testing.T) {
	t.Parallel()
	for _, w := range gather(t, alone, guest{oursAsCurator, "visit"}, guest{curator(t), "visit"}, guest{kazoo, "both"}) {
		theirs := strings.Contains(w, " beside ") && !strings.Contains(w, oursAsCurator.name)
		if !theirs && !strings.Contains(w, "the count is") {
			t.Error(w)
		}
	}
}

// A peer that holds the lock in any way is respected in either layout.
func TestPeersAreRespected(t *testing.T) {
	t.Parallel()
	server, curator := servers.ZooKeeper(t).Addr, curator(t)
	for _, row := range []struct {
		program
		what    string
		readers bool // we may read meanwhile
	}{
		{curator, "hold", false},
		{curator, "write", false},
		{curator, "read", true},
		{kazoo, "hold", false},
		{kazoo, "write", false},
		{kazoo, "read", true},
	} {
		for _, layout := range []zklock.Layout{zklock.Curator, zklock.Kazoo} {
			t.Run(fmt.Sprintf("%s, %s, %s", row.name, row.what, layout), func(t *testing.T) {
				name := fmt.Sprintf("%s-%s-%s", strings.ToLower(row.name), row.what, layout)
				d := open(t, &zklock.Options{Layout: layout}, server)
				p := row.start(t, row.name, server, "/"+name, row.what, t.TempDir())
				p.tell()
				p.expect("held")
				reader, st := request(t, d, units(name, 1, driver.All))
				if st.Granted != row.readers {
					t.Errorf("a reader is granted: %v, want %v", st.Granted, row.readers)
				}
				writer := enqueue(t, d, units(name, driver.All, driver.All))
				p.tell()
				p.expect("released")
				if !st.Granted {
					mustBeGranted(t, d, reader)
				}
				release(t, d, reader)
				mustBeGranted(t, d, writer)
				release(t, d, writer)
			})
		}
	}
}
