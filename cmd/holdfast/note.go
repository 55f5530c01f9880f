package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// A brokenClaim is one that somebody has ended by force, as it is shown.
type brokenClaim struct {
	ID string    `json:"claim"`
	By string    `json:"by"` // "host:pid label"
	At time.Time `json:"at"`
}

// noteLimit bounds how long a verb waits for notes on what it has seen: they are an addition to what it shows.
const noteLimit = 2 * time.Second

// notes returns who has asked for a lock, or has broken it; none where the backend keeps no notes.
func (s *store) notes(ctx context.Context, name string) ([]holdfast.Note, error) {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	notes, err := s.Notes(ctx, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return notes, err
}

// with adds notes to a queue: who has asked for a claim in it, and who has broken those that are not there any more.
func (v view) with(notes []holdfast.Note) view {
	there := idsOf(v.Holders, v.Waiters)
	v.Holders = slices.Clone(v.Holders)
	for _, n := range notes {
		switch at := slices.IndexFunc(v.Holders, func(c claim) bool { return c.ID == n.Claim }); {
		case n.Kind == driver.NoteRevoke && at >= 0:
			v.Holders[at].RevokedBy, v.Holders[at].RevokedAt = n.By, n.At
		case n.Kind == driver.NoteBreak && !there[n.Claim]:
			v.Broken = append(v.Broken, brokenClaim{ID: n.Claim, By: n.By, At: n.At})
		}
	}
	return v
}

// noted adds the notes on a lock, if they can be had.
func (s *store) noted(ctx context.Context, v view) view {
	notes, _ := s.notes(ctx, v.Name) // one of the next looks may bring them
	return v.with(notes)
}

// notedIn is noted as long as ctx lasts, or until by.
func (s *store) notedIn(ctx context.Context) func(v view, by time.Time) view {
	return func(v view, by time.Time) view {
		ctx, cancel := context.WithDeadline(ctx, by)
		defer cancel()
		return s.noted(ctx, v)
	}
}

// noteLines tell what notes say.
func (v view) noteLines() (lines []string) {
	for _, c := range v.Holders {
		if c.RevokedBy != "" {
			lines = append(lines, fmt.Sprintf("claim %s was asked to release it by %s at %s", printable(c.ID),
				printable(c.RevokedBy), clock(c.RevokedAt)))
		}
	}
	for _, b := range v.Broken {
		lines = append(lines, fmt.Sprintf("claim %s was broken by %s at %s", printable(b.ID), printable(b.By),
			clock(b.At)))
	}
	return lines
}

// brokenBy returns who has broken a claim, or "".
func (v view) brokenBy(id string) string {
	for _, b := range v.Broken {
		if b.ID == id {
			return b.By
		}
	}
	return ""
}

// asUser has others see who uses the command: see holdfast.WithOwner.
func asUser() holdfast.Option { return holdfast.WithOwner(userName()) }

// userName is what the user database calls the user, and who that was before sudo, if it says so.
func userName() string {
	name := strconv.Itoa(os.Geteuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if before := os.Getenv("SUDO_USER"); before != "" && before != name {
		name += " (sudo by " + before + ")"
	}
	return name
}

// tellWithDoer tells something as soon as it is known who did it, or in a moment without that.
func (j *job) tellWithDoer(kind string, tell func(by string)) {
	j.tellAside(func() string { return j.doer(kind) }, tell)
}

// tellAside tells something with what find returns, in a goroutine that ends then. What is told so later waits for it;
// the work goes on, though nobody may read standard error.
func (a *app) tellAside(find func() string, tell func(found string)) {
	before, told := a.telling, make(chan struct{})
	a.telling = told
	go func() {
		defer close(told)
		found := find()
		if before != nil {
			<-before
		}
		tell(found)
	}()
}

// warnAside is warn for who must go on.
func (a *app) warnAside(err error) {
	a.tellAside(func() string { return "" }, func(string) { a.warn(err) })
}

// hasTold reports whether all has been told.
func (a *app) hasTold() bool {
	select {
	case <-a.telling:
		return true
	default:
		return a.telling == nil
	}
}

// awaitTold returns when all has been told. Who goes on waits for a moment only.
func (a *app) awaitTold(goesOn bool) {
	var late <-chan time.Time
	if goesOn {
		late = time.After(toldLimit)
	}
	if a.telling == nil {
		return
	}
	select {
	case <-a.telling:
	case <-late:
	}
}

// toldLimit leaves time to learn who did something.
const toldLimit = 2 * doerLimit

// doerLimit bounds how long run waits for the name of who did something to its lock.
const doerLimit = 500 * time.Millisecond

// doer returns who did this to the lock, or "" if that is not known, or if it is nothing that somebody does.
func (j *job) doer(kind string) string {
	if kind == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), doerLimit)
	defer cancel()
	notes, err := j.lease.Notes(ctx)
	at := slices.IndexFunc(notes, func(n holdfast.Note) bool { return n.Kind == kind })
	if err != nil || at < 0 {
		return ""
	}
	return notes[at].By
}
