package holdfast

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Note says who has asked the holder of a lock to release it (its Kind is driver.NoteRevoke), or has broken a claim
// (driver.NoteBreak), and when. By is what others see of the client that did: see [WithOwner].
type Note = driver.Note

// Notes returns who has asked for a lock by [Client.Revoke], or has broken claims on it by [Client.Break], during the
// last hour, oldest first. Of a claim that several have asked for, the note of the first stands. A note is left just
// before the thing itself is done, and taken back if the claim was gone by then. Where none could be left, the thing is
// done all the same; of a request to more than driver.MostNotes holders there are no more notes than that. Whoever may
// use the backend can leave a note in anybody's name, so notes are hints, and no evidence. An error that matches
// [errors.ErrUnsupported] says that the backend keeps no notes.
func (c *Client) Notes(ctx context.Context, name string) ([]Note, error) {
	l := c.lock(name, nil)
	if err := errors.Join(c.closed(), c.checkName(name)); err != nil {
		return nil, l.failure("notes on", err)
	}
	notes, err := driver.Notes(ctx, c.driver, name)
	if err != nil {
		return nil, l.unserved(ctx, "notes on", err)
	}
	return notes, nil
}

// Notes returns the notes about this lease, also once it was lost: who has asked for it, or has broken it. See
// [Client.Notes].
func (l *Lease) Notes(ctx context.Context) ([]Note, error) {
	h := l.grant.hold
	notes, err := h.lock.client.Notes(ctx, l.Name())
	return slices.DeleteFunc(notes, func(n Note) bool { return n.Claim != h.claim.ID }), err
}

// noteLimit bounds for how long notes are waited for. What they tell of is more urgent.
const noteLimit = 2 * time.Second

// A noting leaves the notes of one operation, which may be about many claims. All of them together are waited for until
// a moment that leaves the operation at least half of its time. After one that fails there are no more, and there are
// no more than a lock keeps.
type noting struct {
	*lock
	until time.Time
	left  int // how many there may still be
}

func (l *lock) noting(ctx context.Context) *noting {
	limit := noteLimit
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	return &noting{lock: l, until: time.Now().Add(limit), left: driver.MostNotes}
}

// noted leaves a note of what is done to a claim, and does it. The note comes first, so that whoever learns of the deed
// finds it. It is taken back if nothing was done.
func (l *noting) noted(ctx context.Context, kind, claimID string, do func() error) error {
	if l.left == 0 {
		return do()
	}
	l.left--
	n := Note{ID: driver.NewID(), Kind: kind, Claim: claimID, By: l.settings.owner}
	missing := within(ctx, time.Until(l.until), func(ctx context.Context) error {
		return driver.AddNote(ctx, l.client.driver, l.name, n)
	})
	err := do()
	if missing != nil {
		l.left = 0
	}
	if errors.Is(missing, errors.ErrUnsupported) {
		return err
	}
	if missing != nil {
		l.client.warn(l.settings.logger, "holdfast: there may be no note of who did this", "lock", l.name,
			"backend", l.client.label, "did", kind, "claim", claimID, "error", missing)
	}
	if err != nil && driver.IsAnswer(err) {
		l.takeBack(ctx, n)
	}
	return err
}

// takeBack removes a note. What stays, stays for an hour.
func (l *noting) takeBack(ctx context.Context, n Note) {
	err := within(ctx, noteLimit, func(ctx context.Context) error {
		return driver.RemoveNote(ctx, l.client.driver, l.name, n.ID)
	})
	if err != nil {
		l.left = 0
	}
}

// broken is the error for a claim that somebody has broken while it waited, and says who did if that is known.
func (l *lock) broken(ctx context.Context, claimID string) error {
	var notes []Note
	_ = within(ctx, noteLimit, func(ctx context.Context) (err error) { // without a note the error says less
		notes, err = driver.Notes(ctx, l.client.driver, l.name)
		return err
	})
	for _, n := range notes {
		if n.Kind == driver.NoteBreak && n.Claim == claimID {
			return &BrokenError{By: n.By}
		}
	}
	return &BrokenError{}
}

// within calls f with a context that ends after so long at the latest.
func within(ctx context.Context, most time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return f(ctx)
}
