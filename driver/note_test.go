package driver_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// What other versions, or others who may write to the store, have left where notes are is no note that misleads.
func TestForeignNotes(t *testing.T) {
	d := drivertest.NewFacade(memlock.New())
	own := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a", By: "own"}
	if err := driver.AddNote(t.Context(), d, "m", own); err != nil {
		t.Fatal(err)
	}
	var notes string
	for name, err := range driver.List(t.Context(), d, "") {
		if err == nil && driver.HoldsNotes(name) && strings.HasPrefix(name, "m") {
			notes = name
		}
	}
	for _, c := range []driver.Claim{
		{Value: "2 break b", Owner: "newer"},
		{Value: "", Owner: "empty"},
		{Value: "1 break b more", Owner: "longer"},
		{Value: "1 revoke b", Owner: strings.Repeat("\xff", 1<<20)},
		{Value: "1 revoke b", Owner: "again"},
		{Value: "1 steal b", Owner: "unknown"},
		{Value: "1 break \x1b[2J", Owner: "odd"},
		{Value: "1 break " + strings.Repeat("b", 1<<20), Owner: "longest"},
	} {
		c.Name, c.ID, c.Weight, c.Limit, c.TTL = notes, driver.NewID(), 1, driver.All, time.Hour
		if _, err := d.Request(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := driver.Notes(t.Context(), d, "m")
	if err != nil || len(got) != 2 || got[0].By != "own" || got[1].By != strings.Repeat("\xff", driver.MaxNoteBy) {
		t.Errorf("%.600q, %v", got, err)
	}
}

// However many notes others have left, few are read: the last.
func TestMostNotesAreRead(t *testing.T) {
	d := memlock.New()
	var last driver.Note
	for i := range driver.MostNotes + 5 {
		last = driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a", By: strconv.Itoa(i)}
		if err := driver.AddNote(t.Context(), hiding(d), "m", last); err != nil {
			t.Fatal(err)
		}
	}
	got, err := driver.Notes(t.Context(), d, "m")
	if err != nil || len(got) != driver.MostNotes || got[driver.MostNotes-1].ID != last.ID {
		t.Errorf("%d notes (error %v), want the last %d", len(got), err, driver.MostNotes)
	}
}

// hiding returns a driver that shows no claims, so that none is in the way of another.
func hiding(d driver.Driver) driver.Driver {
	return batch.Intercept(d, func(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
		if op.Kind == driver.OpQueue {
			return driver.Result{}
		}
		return next(op)
	})
}

// Somebody who locks what holds the notes keeps others from leaving any, and they are told.
func TestNotesAreBarred(t *testing.T) {
	d := drivertest.NewFacade(memlock.New())
	n := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a"}
	c := driver.Claim{Name: "m\x00notes", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour}
	if st, err := d.Request(t.Context(), c); err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	if err := driver.AddNote(t.Context(), d, "m", n); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("%v, want it refused", err)
	}
}

// A name that leaves no room keeps no notes, and says so.
func TestNotesOfLongNames(t *testing.T) {
	d := narrow{memlock.New()}
	for name, want := range map[string]error{"x": nil, strings.Repeat("x", 10): errors.ErrUnsupported} {
		n := driver.Note{ID: driver.NewID(), Kind: driver.NoteBreak, Claim: "a"}
		_, read := driver.Notes(context.Background(), d, name)
		for _, err := range []error{driver.AddNote(context.Background(), d, name, n), read} {
			if !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", name, err, want)
			}
		}
	}
}

// narrow is a driver that takes short names.
type narrow struct{ driver.Driver }

func (n narrow) Traits() driver.Traits {
	t := n.Driver.Traits()
	t.MaxName = 10
	return t
}

// Each row is what is kept, what is added, and what becomes of both.
func TestJoin(t *testing.T) {
	asked := driver.Note{ID: "1", Kind: driver.NoteRevoke, Claim: "a"}
	full := make([]driver.Note, driver.MostNotes+2)
	for _, row := range []struct {
		name string
		kept []driver.Note
		note driver.Note
		add  bool
		drop int
	}{
		{"the first", nil, asked, true, 0},
		{"there already", []driver.Note{{ID: "2", Kind: driver.NoteBreak}}, driver.Note{ID: "2"}, false, 0},
		{"asked before", []driver.Note{asked}, driver.Note{ID: "2", Kind: driver.NoteRevoke, Claim: "a"}, false, 0},
		{"asked another", []driver.Note{asked}, driver.Note{ID: "2", Kind: driver.NoteRevoke, Claim: "b"}, true, 0},
		{"asked, then broken", []driver.Note{asked}, driver.Note{ID: "2", Kind: driver.NoteBreak, Claim: "a"}, true, 0},
		{"too many", full, asked, true, 3},
		{"room for one", full[:driver.MostNotes-1], asked, true, 0},
	} {
		if add, drop := row.note.Join(row.kept); add != row.add || drop != row.drop {
			t.Errorf("%s: added %v, %d dropped; want %v, %d", row.name, add, drop, row.add, row.drop)
		}
	}
}
