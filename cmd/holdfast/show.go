package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// showVerb is holdfast show.
func (a *app) showVerb() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use:   "show [--watch] NAME",
		Short: "Show who holds a lock and who waits for it",
		Long: `Show prints the queue of a lock, oldest first: who holds it and who waits, since when and for how long each has been
in the queue. It is not an error if the lock is free. Below that it says who has asked the holders to release the lock,
by revoke, and who has broken claims on it during the last hour, where the backend keeps notes of that.

` + watchHelp + `

` + helpCodes + helpSignal + helpFailure + helpUsage + helpUnavailable,
		ValidArgsFunction: a.completeName,
		Args:              takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				if watch {
					return a.watchLock(c.Context(), s, args[0])
				}
				return a.show(c.Context(), s, args[0])
			})
		},
	}
	a.backend.register(c)
	registerWatch(c, &watch)
	return c
}

func (a *app) show(ctx context.Context, s *store, name string) error {
	queue, err := s.Queue(ctx, name)
	if err != nil {
		return err
	}
	notes, err := s.notes(ctx, name)
	if err != nil {
		a.warn(err)
	}
	return a.printQueue(viewOf(name, queue).with(notes))
}

// watchLock tells each change of one lock; on a terminal it looks every second, so that times go on.
func (a *app) watchLock(ctx context.Context, s *store, name string) error {
	looks := s.watched(name)
	if isScreen(a.out) && !a.json {
		looks = again(lookLimit, func(ctx context.Context) ([]view, error) {
			queue, err := s.Queue(ctx, name)
			return []view{s.noted(ctx, viewOf(name, queue))}, err
		})
	}
	return a.watch(ctx, looks, a.display(s.notedIn(ctx), func(views []view) []string { return views[0].lines() }))
}

func (a *app) printQueue(v view) error {
	if a.json {
		return printJSON(a.out, v)
	}
	for i, line := range v.lines() {
		if i == 0 && !v.isFree() {
			line = bold(a.out, line)
		}
		if _, err := fmt.Fprintln(a.out, line); err != nil {
			return err
		}
	}
	return nil
}

func (v view) isFree() bool { return len(v.Holders)+len(v.Waiters) == 0 }

func (v view) freeLine() string { return printable(v.Name) + " is free" }

// lines are what show prints.
func (v view) lines() []string {
	if v.isFree() {
		return append([]string{v.freeLine()}, v.noteLines()...)
	}
	return append(v.table().lines(), v.noteLines()...)
}

// table shows a queue. It has a column for values where somebody stands for something.
func (v view) table() *table {
	t := &table{}
	head := []string{"STATE", "OWNER", "HOST", "PID", "ASKS", "SINCE", "FOR", "EXPIRES IN", "TOKEN", "CLAIM"}
	valued := slices.ContainsFunc(slices.Concat(v.Holders, v.Waiters), claim.standsFor)
	add := func(row []string, value string) {
		if valued {
			row = append(row, value)
		}
		t.add(row...)
	}
	add(head, "VALUE")
	for _, c := range v.Holders {
		add(c.row("holds"), dash(c.shownValue()))
	}
	for _, c := range v.Waiters {
		add(c.row("waits"), dash(c.shownValue()))
	}
	return t
}

// standsFor reports whether the claim is a candidate's, who stands for something.
func (c claim) standsFor() bool { return c.shownValue() != "" }

// shownValue is what a candidate stands for. That of a foreign lock is shown to nobody.
func (c claim) shownValue() string {
	if c.isForeign() {
		return ""
	}
	return c.Value
}

func (c claim) row(state string) []string {
	pid, owner := "-", c.Label
	if c.isForeign() {
		owner = c.Owner + hint(c.Value)
	}
	if c.PID > 0 {
		pid = fmt.Sprint(c.PID)
	}
	return []string{state, dash(owner), dash(c.Host), pid, c.Asks, clock(c.Since), c.age(), c.expiry(), dash(c.Token),
		c.ID}
}

// dash stands for what is not known.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
