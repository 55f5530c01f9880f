package zklock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/hall"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// A guest is a program, and what two processes of it do.
type guest struct {
	hall.Program
	what string
}

// gather lets two processes of each guest share one lock.
func gather(t *testing.T, ways []string, guests ...guest) (wrong []string) {
	t.Helper()
	server := servers.ZooKeeper(t).Addr
	var invited []hall.Guest
	for _, g := range guests {
		invited = append(invited, hall.Guest{Program: g.Program, Args: []string{server, "/jobs/nightly", g.what}})
	}
	return hall.Gather(t, ways, hall.Often, invited...)
}

// Two processes of ours and two of each peer's share a lock: never two are inside that must not be, and nobody starves.
func TestBesidePeers(t *testing.T) {
	t.Parallel()
	curator := curator(t)
	for name, row := range map[string]struct {
		ways   []string
		guests []guest
	}{
		"Curator's InterProcessMutex":          {hall.Writing, []guest{{oursAsCurator, "visit"}, {curator, "visit"}}},
		"Curator's InterProcessReadWriteLock":  {hall.Both, []guest{{oursAsCurator, "share"}, {curator, "share"}}},
		"go-zookeeper's Lock":                  {hall.Writing, []guest{{oursAsCurator, "visit"}, {zkLock, "visit"}}},
		"kazoo's Lock that respects Curator's": {hall.Writing, []guest{{oursAsCurator, "visit"}, {kazoo, "both"}}},
		"all that respect each other":          {hall.Writing, []guest{{oursAsCurator, "visit"}, {curator, "visit"}, {zkLock, "visit"}}},
		"zk.Lock and kazoo, in its layout":     {hall.Writing, []guest{{oursAsKazoo, "visit"}, {zkLock, "visit"}, {kazoo, "both"}}},
		"kazoo's Lock":                         {hall.Writing, []guest{{oursAsKazoo, "visit"}, {kazoo, "visit"}}},
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
	for path, both := range map[string][]hall.Program{"/first-curator": {curator, kazoo}, "/first-kazoo": {kazoo, curator}} {
		var holders []*hall.Peer
		for _, p := range both {
			holder := p.Start(t, t.TempDir(), p.Name, server, path, "hold")
			holder.Tell()
			holder.Expect("held")
			holders = append(holders, holder)
		}
		for _, holder := range holders {
			holder.Tell()
			holder.Expect("released")
		}
	}
}

// Ours respect both of them and are respected, also where those two are inside together.
func TestBetweenPeersThatDisregardEachOther(t *testing.T) {
	t.Parallel()
	for _, w := range gather(t, hall.Writing, guest{oursAsCurator, "visit"}, guest{curator(t), "visit"}, guest{kazoo, "both"}) {
		theirs := strings.Contains(w, " beside ") && !strings.Contains(w, oursAsCurator.Name)
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
		hall.Program
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
			t.Run(fmt.Sprintf("%s, %s, %s", row.Name, row.what, layout), func(t *testing.T) {
				name := fmt.Sprintf("%s-%s-%s", strings.ToLower(row.Name), row.what, layout)
				d := open(t, &zklock.Options{Layout: layout}, server)
				p := row.Start(t, t.TempDir(), row.Name, server, "/"+name, row.what)
				p.Tell()
				p.Expect("held")
				reader, st := request(t, d, units(name, 1, driver.All))
				if st.Granted != row.readers {
					t.Errorf("a reader is granted: %v, want %v", st.Granted, row.readers)
				}
				writer := enqueue(t, d, units(name, driver.All, driver.All))
				p.Tell()
				p.Expect("released")
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
