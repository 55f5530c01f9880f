package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Note says who has asked for a lock, or has taken it away by force.
type Note struct {
	ID    string    // of the note: see NewID
	Kind  string    // what was done: NoteRevoke or NoteBreak
	Claim string    // the ID of the claim to which it was done
	By    string    // who did it, for people: "host:pid label", at most MaxNoteBy bytes; anything may be in it
	At    time.Time // when the note was left, as Entry.Since; AddNote ignores it
}

// Kinds of notes.
const (
	NoteRevoke = "revoke" // the holder was asked to release the claim
	NoteBreak  = "break"  // the claim was ended by force
)

// Bounds of notes.
const (
	NoteAge   = time.Hour // how long a note is kept
	MostNotes = 100       // on one lock; a further one takes the place of the oldest
	MaxNoteBy = 128       // bytes of Note.By; what is longer is cut
)

// A Noter keeps notes beside locks. A driver needs to be one only where claims cannot be detached, or cannot share a
// lock: elsewhere notes are claims.
type Noter interface {
	// AddNote leaves a note with a lock, for NoteAge at least or until MostNotes were left after it. [Note.Join] says
	// when it changes nothing. Other records of the lock do not change.
	AddNote(ctx context.Context, name string, n Note) error

	// RemoveNote takes back the note with this ID. It is no error if there is none.
	RemoveNote(ctx context.Context, name, id string) error

	// Notes returns the notes that were left with a lock, oldest first.
	Notes(ctx context.Context, name string) ([]Note, error)
}

// AddNote leaves a note with a lock as [Noter] says. Where d is none, the note is a claim on a lock beside that one,
// which it shares with the other notes; an error that wraps [errors.ErrUnsupported] says that d has no such claims.
func AddNote(ctx context.Context, d Driver, name string, n Note) error {
	n.By = cut(n.By, MaxNoteBy)
	if noter, ok := As[Noter](d); ok {
		return noter.AddNote(ctx, name, n)
	}
	kept, err := noteClaims(ctx, d, name)
	if err != nil {
		return err
	}
	add, drop := n.Join(notesOf(kept))
	if !add {
		return nil
	}
	for _, e := range kept[:drop] {
		if err := RemoveNote(ctx, d, name, e.ID); err != nil {
			return err
		}
	}
	c := noteClaim(name, n.ID)
	c.Owner, c.Value = n.By, noteFormat+" "+n.Kind+" "+n.Claim
	r := doOne(ctx, d, Op{Kind: OpRequest, Claim: c})
	if r.Err == nil && !r.Status.Granted {
		return fmt.Errorf("%w: the place of the notes is taken, as a lock with the name %q", ErrRefused, c.Name)
	}
	return r.Err
}

// RemoveNote takes a note back as [Noter] says, or returns an error that wraps [errors.ErrUnsupported].
func RemoveNote(ctx context.Context, d Driver, name, id string) error {
	if noter, ok := As[Noter](d); ok {
		return noter.RemoveNote(ctx, name, id)
	}
	if err := keepsNotes(d, name); err != nil {
		return err
	}
	r := doOne(ctx, d, Op{Kind: OpRelease, Claim: noteClaim(name, id)})
	if errors.Is(r.Err, ErrGone) {
		return nil
	}
	return r.Err
}

// Notes returns the notes on a lock as [Noter] says, or an error that wraps [errors.ErrUnsupported]. Of several
// requests to let go of one claim, the first stands.
func Notes(ctx context.Context, d Driver, name string) ([]Note, error) {
	if noter, ok := As[Noter](d); ok {
		notes, err := noter.Notes(ctx, name)
		return tidied(notes), err
	}
	kept, err := noteClaims(ctx, d, name)
	return tidied(notesOf(kept)), err
}

// Join decides for a driver what becomes of the notes on a lock, oldest first, when n is added: so many of the oldest
// go, and n is added. It is not if it is there already, or says that somebody else has asked for a claim, too: the
// first who did stands.
func (n Note) Join(kept []Note) (add bool, drop int) {
	if slices.ContainsFunc(kept, func(k Note) bool { return k.ID == n.ID || k.saysTheSame(n) }) {
		return false, 0
	}
	return true, max(len(kept)+1-MostNotes, 0)
}

// saysTheSame reports whether n, which came later, is no news: a holder is asked once.
func (k Note) saysTheSame(n Note) bool {
	return n.Kind == NoteRevoke && k.Kind == n.Kind && k.Claim == n.Claim
}

// tidied leaves out notes that no client of this version has left, all but the last MostNotes, and those that clients
// have added twice because they did so at the same time.
func tidied(notes []Note) (tidy []Note) {
	notes = slices.DeleteFunc(notes, func(n Note) bool {
		return n.Kind != NoteRevoke && n.Kind != NoteBreak || !IsID(n.Claim)
	})
	for _, n := range notes[max(len(notes)-MostNotes, 0):] {
		again := slices.ContainsFunc(tidy, func(k Note) bool { return k.saysTheSame(n) })
		if !again {
			n.By = cut(n.By, MaxNoteBy)
			tidy = append(tidy, n)
		}
	}
	return tidy
}

// cut returns the first bytes of s, so many at most, without a part of a character at their end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for end := most; end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}
	return s[:most]
}

// noteSuffix ends the names of locks whose claims are notes, after the name of the lock that they are about.
const noteSuffix = "\x00notes"

// noteFormat is the version of what the value of such a claim says: 'FORMAT KIND CLAIM'.
const noteFormat = "1"

// HoldsNotes reports whether a lock of this name holds notes about another one, so that it is not listed.
func HoldsNotes(name string) bool { return strings.HasSuffix(name, noteSuffix) }

// noteClaim is the claim that is a note, without what it says.
func noteClaim(name, id string) Claim {
	return Claim{Name: name + noteSuffix, ID: id, Weight: 1, Limit: All, TTL: NoteAge, Detached: true}
}

// keepsNotes reports why notes on a lock cannot be claims.
func keepsNotes(d Driver, name string) error {
	t := d.Traits()
	longest := t.MaxName > 0 && len(name)+len(noteSuffix) > t.MaxName
	if !t.Listed || !t.Weighted || !t.Detach || longest || t.MaxTTL > 0 && t.MaxTTL < NoteAge {
		return Unsupported(t, "keeping notes of who has asked for a lock, or has broken it")
	}
	return nil
}

// noteClaims returns the claims that are the notes on a lock, oldest first.
func noteClaims(ctx context.Context, d Driver, name string) ([]Entry, error) {
	if err := keepsNotes(d, name); err != nil {
		return nil, err
	}
	r := doOne(ctx, d, Op{Kind: OpQueue, Claim: Claim{Name: name + noteSuffix}})
	return r.Queue, r.Err
}

// doOne does one operation by itself.
func doOne(ctx context.Context, d Driver, op Op) (r Result) {
	d.Do(ctx, []Op{op}, func(_ int, got Result) { r = got })
	return r
}

// notesOf reads notes. What another version has written, and this one does not understand, has no kind.
func notesOf(kept []Entry) []Note {
	notes := make([]Note, len(kept))
	for i, e := range kept {
		notes[i] = Note{ID: e.ID, By: e.Owner, At: e.Since}
		if f := strings.Split(e.Value, " "); len(f) == 3 && f[0] == noteFormat {
			notes[i].Kind, notes[i].Claim = f[1], f[2]
		}
	}
	return notes
}
