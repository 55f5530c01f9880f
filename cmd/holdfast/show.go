package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// showVerb is holdfast show.
func (a *app) showVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show who holds a lock and who waits for it",
		Long: `Show prints the queue of a lock, oldest first: who holds it and who waits. A lock that is free is no error.

` + exitHelp,
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				queue, err := s.Queue(c.Context(), args[0])
				if err != nil {
					return err
				}
				return a.printQueue(viewOf(args[0], queue))
			})
		},
	}
	a.backend.register(c)
	return c
}

func (a *app) printQueue(v view) error {
	if a.json {
		return printJSON(a.out, v)
	}
	if len(v.Holders)+len(v.Waiters) == 0 {
		_, err := fmt.Fprintf(a.out, "%s is free\n", printable(v.Name))
		return err
	}
	t := &table{}
	t.add("STATE", "OWNER", "HOST", "PID", "ASKS", "SINCE", "EXPIRES IN", "TOKEN", "CLAIM")
	for _, c := range v.Holders {
		t.add(c.row("holds")...)
	}
	for _, c := range v.Waiters {
		t.add(c.row("waits")...)
	}
	return t.print(a.out)
}

func (c claim) row(state string) []string {
	pid, owner := "-", c.Label
	if c.PID > 0 {
		pid = fmt.Sprint(c.PID)
	}
	return []string{state, dash(owner), dash(c.Host), pid, c.Asks, clock(c.Since), c.expiry(), dash(c.Token), c.ID}
}

// dash stands for what is not known.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
