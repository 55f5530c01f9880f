package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A journal tells the changes of queues: a line for each claim that came, was granted, was asked for or has ended; with
// --json the queue of each lock that changed.
type journal struct {
	*app
	known   map[string]view
	noted   func(v view, by time.Time) view // adds the notes on a lock, where the view may have none
	notesBy time.Time                       // until when notes on the locks of this update are waited for
	said    string                          // of the outage that lasts
}

func (j *journal) update(views []view) error {
	j.said, j.notesBy = "", time.Now().Add(noteLimit)
	gone := maps.Clone(j.known)
	for _, v := range views {
		delete(gone, v.Name)
		if err := j.tell(v); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		if err := j.tell(viewOf(name, nil)); err != nil {
			return err
		}
		delete(j.known, name)
	}
	return nil
}

// outage tells of an outage once, as long as it looks the same. That there is no answer yet is no news in one.
func (j *journal) outage(err error) error {
	if text := err.Error(); text != j.said && (j.said == "" || !errors.Is(err, errLate)) {
		j.said = text
		j.warn(err)
	}
	return nil
}

// tell tells what has changed in one queue.
func (j *journal) tell(v view) error {
	before, known := j.known[v.Name]
	if len(v.goneSince(before)) > 0 && v.Broken == nil {
		v = j.noted(v, j.notesBy)
	}
	j.known[v.Name] = v.orAs(before)
	changes := v.changesFrom(before)
	if known && len(changes) == 0 {
		return nil
	}
	if j.json {
		return printJSON(j.out, v)
	}
	if len(changes) == 0 {
		changes = []string{"is free"}
	}
	now := time.Now().Format(time.DateTime)
	for _, c := range changes {
		if _, err := fmt.Fprintf(j.out, "%s  %s  %s\n", now, printable(v.Name), c); err != nil {
			return err
		}
	}
	return nil
}

// orAs is the queue or, where it cannot be read, what it was before: what has changed meanwhile is told when it can be.
func (v view) orAs(before view) view {
	if v.Error != "" {
		v.Holders, v.Waiters = before.Holders, before.Waiters
	}
	return v
}

// changesFrom says what has changed since the queue was as before. That claims are renewed is no change.
func (v view) changesFrom(before view) (changes []string) {
	for _, c := range v.goneSince(before) {
		changes = append(changes, "ended  "+c.who()+told("broken by", v.brokenBy(c.ID)))
	}
	for _, c := range missingIn(idsOf(before.Holders), v.Holders) {
		changes = append(changes, "holds  "+c.who())
	}
	for _, c := range missingIn(idsOf(before.Waiters), v.Waiters) {
		changes = append(changes, "waits  "+c.who())
	}
	for _, c := range missingIn(idsOf(askedOf(before)), askedOf(v)) {
		changes = append(changes, "asked  "+c.who()+told("by", c.RevokedBy))
	}
	if v.Error != "" && v.Error != before.Error {
		changes = append(changes, "cannot be read: "+printable(oneLine(v.Error)))
	}
	return changes
}

// goneSince returns the claims that have ended since the queue was as before: none where that is not known.
func (v view) goneSince(before view) []claim {
	if v.Error != "" {
		return nil
	}
	return missingIn(idsOf(v.Holders, v.Waiters), before.Holders, before.Waiters)
}

// askedOf returns the claims whose holders were asked to release them.
func askedOf(v view) []claim {
	return slices.DeleteFunc(slices.Clone(v.Holders), func(c claim) bool { return c.RevokedBy == "" })
}

// told is the end of a line that says who did something, if that is known.
func told(what, by string) string {
	if by == "" {
		return ""
	}
	return "  " + what + " " + printable(by)
}

// idsOf returns the IDs of claims as a set: thousands may wait.
func idsOf(queues ...[]claim) map[string]bool {
	ids := map[string]bool{}
	for _, c := range slices.Concat(queues...) {
		ids[c.ID] = true
	}
	return ids
}

// missingIn returns the claims whose IDs are not in a set.
func missingIn(ids map[string]bool, queues ...[]claim) []claim {
	return slices.DeleteFunc(slices.Concat(queues...), func(c claim) bool { return ids[c.ID] })
}
