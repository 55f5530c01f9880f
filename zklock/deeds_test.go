package zklock_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/zklock"
)

// Notes outlive who left them. A node whose notes are all an hour old goes by Reap or, some at a time, when others are
// made; one that holds a note, or whose format is newer, stays.
func TestOldNotesGo(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	left := func(d *zklock.Driver, name string) {
		t.Helper()
		n := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a", By: "somebody"}
		if err := d.AddNote(limit(t), name, n); err != nil {
			t.Fatal(err)
		}
	}
	dying := open(t, nil, addr)
	left(dying, "kept")
	if err := dying.Close(); err != nil {
		t.Fatal(err)
	}
	if notes, err := d.Notes(limit(t), "kept"); err != nil || len(notes) != 1 {
		t.Errorf("of a client that has ended: %+v, %v", notes, err)
	}

	const old = `{"v":1,"deeds":[{"id":"1","kind":"break","claim":"a","by":"ann","at":1}]}`
	plant := func(name, data string) {
		t.Helper()
		_, err := other.Create("/holdfast/.notes/"+name, []byte(data), 0, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
	}
	plant("old", old)
	plant("newer", `{"v":2}`)
	if notes, err := d.Notes(limit(t), "old"); err != nil || len(notes) != 0 {
		t.Errorf("of more than an hour ago: %+v, %v", notes, err)
	}
	if _, err := d.Notes(limit(t), "newer"); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("of a newer version: %v", err)
	}
	removed, err := d.Reap(limit(t), 0)
	if !slices.Contains(removed, driver.Leftover{Kind: "old notes", Name: "old"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	nodes, _, err := other.Children("/holdfast/.notes")
	slices.Sort(nodes)
	if err != nil || !slices.Equal(nodes, []string{"kept", "newer"}) {
		t.Errorf("left are %v, %v", nodes, err)
	}

	plant("old", old)
	until(t, "an old node goes as others are made", func() bool {
		left(d, driver.NewID())
		there, _, err := other.Exists("/holdfast/.notes/old")
		return !there && err == nil
	})
}

// A node from which the last note is taken back is not left behind.
func TestEmptyNotesGo(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	d, other := open(t, nil, addr), raw(t, addr)
	n := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a"}
	if err := errors.Join(d.AddNote(limit(t), "m", n), d.RemoveNote(limit(t), "m", n.ID)); err != nil {
		t.Fatal(err)
	}
	if there, _, err := other.Exists("/holdfast/.notes/m"); there || err != nil {
		t.Errorf("it is there: %v, %v", there, err)
	}
}
