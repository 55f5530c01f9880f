package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

var noteRows = []row{
	{
		name: "notes",
		why:  "everybody reads, in order, who has asked for a lock and who has broken it; the lock stays as it is",
		run: func(e *env) {
			e.hasNotes()
			c, held := e.hold(e.claim())
			asked, broke := note(driver.NoteRevoke, c, "ann"), note(driver.NoteBreak, c, "a'\"\\ \n\x1b[2J\x00\xff ☃")
			e.notes(e.d, asked)
			e.hasNotes(asked)
			e.notes(e.other, broke)
			e.hasNotes(asked, broke)
			e.queued(c)
			e.with(e.name + "/other").hasNotes()
			e.release(e.d, c, held)
			e.acquire(e.other, e.try())
			e.hasNotes(asked, broke)
		},
		needs: notes,
	},
	{
		name: "notes once",
		why:  "a holder is asked once, whoever asks again, and a request that is repeated leaves one note",
		run: func(e *env) {
			c := e.claim()
			first, again := note(driver.NoteRevoke, c, "first"), note(driver.NoteRevoke, c, "again")
			other, broke := note(driver.NoteRevoke, e.claim(), "again"), note(driver.NoteBreak, c, "again")
			for range 2 {
				e.notes(e.d, first)
				e.notes(e.other, again)
			}
			e.notes(e.other, other)
			e.notes(e.other, broke)
			e.notes(e.d, broke)
			e.hasNotes(first, other, broke)
		},
		needs: notes,
	},
	{
		name: "note taken back",
		why:  "nobody is said to have done what was not done",
		run: func(e *env) {
			kept, wrong := note(driver.NoteBreak, e.claim(), "kept"), note(driver.NoteBreak, e.claim(), "wrong")
			e.notes(e.d, kept)
			e.notes(e.d, wrong)
			for range 2 {
				e.takesBack(wrong)
				e.hasNotes(kept)
			}
			e.takesBack(note(driver.NoteBreak, e.claim(), "never was"))
			e.hasNotes(kept)
		},
		needs: notes,
	},
	{
		name: "note too long",
		why:  "what somebody calls himself is cut, and never in the middle of a character",
		run: func(e *env) {
			fits := strings.Repeat("x", driver.MaxNoteBy-1)
			long := note(driver.NoteBreak, e.claim(), fits+strings.Repeat("☃", 1<<18))
			e.notes(e.d, long)
			long.By = fits
			e.hasNotes(long)
		},
		needs: notes,
	},
	{
		name: "most notes",
		why:  "who breaks claims again and again fills no store: a new note takes the place of the oldest",
		run: func(e *env) {
			var all []driver.Note
			for i := range driver.MostNotes + 2 {
				n := note(driver.NoteBreak, e.claim(), fmt.Sprint(i))
				e.notes(e.d, n)
				all = append(all, n)
			}
			e.hasNotes(all[2:]...)
		},
		needs: notes,
		exact: true,
	},
}

// notes reports whether a driver keeps notes.
func notes(d *Facade) bool {
	t := d.Traits()
	return has[driver.Noter](d) || t.Listed && t.Weighted && t.Detach
}

func note(kind string, c driver.Claim, by string) driver.Note {
	return driver.Note{ID: driver.NewID(), Kind: kind, Claim: c.ID, By: by}
}

// notes leaves a note.
func (e *env) notes(d *Facade, n driver.Note) {
	e.Helper()
	if _, err := e.insist(func(ctx context.Context) error { return driver.AddNote(ctx, d, e.name, n) }); err != nil {
		e.Fatalf("AddNote(%.20q): %v", n.By, err)
	}
}

// takesBack removes a note.
func (e *env) takesBack(n driver.Note) {
	e.Helper()
	_, err := e.insist(func(ctx context.Context) error { return driver.RemoveNote(ctx, e.other, e.name, n.ID) })
	if err != nil {
		e.Errorf("RemoveNote(%.20q): %v", n.By, err)
	}
}

// hasNotes fails unless these are what everybody reads.
func (e *env) hasNotes(want ...driver.Note) {
	e.Helper()
	for _, d := range []*Facade{e.d, e.other} {
		got, _, err := persist(e, func(ctx context.Context) ([]driver.Note, error) {
			return driver.Notes(ctx, d, e.name)
		})
		if err != nil || !slices.EqualFunc(got, want, sameNote) {
			e.Errorf("the notes are %.400q (error %v), want %.400q", got, err, want)
		}
	}
}

// sameNote reports whether a note was read as it was left, at some time.
func sameNote(got, want driver.Note) bool {
	dated := !got.At.IsZero()
	got.At = want.At
	return dated && got == want
}

// notesErr returns what a driver says that keeps no notes: the same whatever is done with them.
func (e *env) notesErr() error {
	err := driver.AddNote(context.Background(), e.d, e.name, note(driver.NoteBreak, e.claim(), "any"))
	_, errRead := driver.Notes(context.Background(), e.d, e.name)
	errRemove := driver.RemoveNote(context.Background(), e.d, e.name, driver.NewID())
	if errors.Is(err, errors.ErrUnsupported) != errors.Is(errRead, errors.ErrUnsupported) ||
		errors.Is(err, errors.ErrUnsupported) != errors.Is(errRemove, errors.ErrUnsupported) {
		e.Errorf("notes are added: %v, read: %v, removed: %v", err, errRead, errRemove)
	}
	return err
}
