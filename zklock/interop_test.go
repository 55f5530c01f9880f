package zklock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/interop"
	"github.com/holdfast-go/holdfast/zklock"
)

// A contender is a program, and what two processes of it do.
type contender struct {
	interop.Program
	what string
}

// contend lets two processes of each contender share one lock.
func contend(t *testing.T, ways []string, contenders ...contender) (wrong []string) {
	t.Helper()
	server := zklock.Server(t).Addr
	var clients []interop.Client
	for _, c := range contenders {
		clients = append(clients, interop.Client{Program: c.Program, Args: []string{server, "/jobs/nightly", c.what}})
	}
	return interop.Contend(t, ways, interop.MinVisits, clients...)
}

// Two processes of ours and two of each peer's share a lock: never two are inside that must not be, and nobody
// starves.
func TestBesidePeers(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	weAsCurator, weAsKazoo := contender{oursAsCurator, "visit"}, contender{oursAsKazoo, "visit"}
	theirs := contender{zkLock, "visit"}
	for name, row := range map[string]struct {
		ways       []string
		contenders []contender
	}{
		"Curator's InterProcessMutex": {interop.Writing, []contender{weAsCurator, {curator, "visit"}}},
		"Curator's InterProcessReadWriteLock": {
			interop.Both, []contender{{oursAsCurator, "share"}, {curator, "share"}},
		},
		"go-zookeeper's Lock":                  {interop.Writing, []contender{weAsCurator, theirs}},
		"kazoo's Lock that respects Curator's": {interop.Writing, []contender{weAsCurator, {kazoo, "both"}}},
		"all that respect each other":          {interop.Writing, []contender{weAsCurator, {curator, "visit"}, theirs}},
		"zk.Lock and kazoo, in its layout":     {interop.Writing, []contender{weAsKazoo, theirs, {kazoo, "both"}}},
		"kazoo's Lock":                         {interop.Writing, []contender{weAsKazoo, {kazoo, "visit"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range contend(t, row.ways, row.contenders...) {
				t.Error(w)
			}
		})
	}
}

// Curator and kazoo do not respect each other, whatever we do; told to, kazoo respects Curator, which stays as it is.
func TestPeersDisregardEachOther(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t).Addr
	for path, both := range map[string][]interop.Program{
		"/first-curator": {curator, kazoo},
		"/first-kazoo":   {kazoo, curator},
	} {
		var holders []*interop.Peer
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
	all := []contender{{oursAsCurator, "visit"}, {curator, "visit"}, {kazoo, "both"}}
	for _, w := range contend(t, interop.Writing, all...) {
		theirs := strings.Contains(w, " beside ") && !strings.Contains(w, oursAsCurator.Name)
		if !theirs && !strings.Contains(w, "the count is") {
			t.Error(w)
		}
	}
}

// A peer that holds the lock in any way is respected in either layout.
func TestPeersAreRespected(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t).Addr
	for _, row := range []struct {
		interop.Program
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
