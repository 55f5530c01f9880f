package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A journal tells the changes of queues: a line for each claim that came, was granted or has ended; with --json the
// queue of each lock that changed.
type journal struct {
	*app
	known map[string]view
	said  string // of the outage that lasts
}

func (j *journal) update(views []view) error {
	j.said = ""
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
	j.known[v.Name] = v
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

// changesFrom says what has changed since the queue was as before. That claims are renewed is no change.
func (v view) changesFrom(before view) (changes []string) {
	if v.Error == "" { // otherwise nothing is known to have ended
		gone := missingIn(idsOf(v.Holders, v.Waiters), before.Holders, before.Waiters)
		changes = append(changes, toldAs("ended", gone)...)
	}
	changes = append(changes, toldAs("holds", missingIn(idsOf(before.Holders), v.Holders))...)
	changes = append(changes, toldAs("waits", missingIn(idsOf(before.Waiters), v.Waiters))...)
	if v.Error != "" && v.Error != before.Error {
		changes = append(changes, "cannot be read: "+printable(oneLine(v.Error)))
	}
	return changes
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

func toldAs(what string, claims []claim) (changes []string) {
	for _, c := range claims {
		changes = append(changes, what+"  "+c.who())
	}
	return changes
}
