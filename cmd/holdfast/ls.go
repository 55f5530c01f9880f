package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// lsVerb is holdfast ls.
func (a *app) lsVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List the locks that are held or waited for",
		Long: `Ls lists the locks that are held or waited for, and whose names start with PREFIX: one on a line, with the number of
holders and waiters and its first holder. With --json it prints a list of what show prints.

` + exitHelp,
		Args: takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				views, err := s.views(c.Context(), strings.Join(args, ""))
				if err != nil {
					return err
				}
				return a.printLocks(views)
			})
		},
	}
	a.backend.register(c)
	return c
}

// views returns the locks whose names start with prefix, sorted. Those that became free meanwhile are left out.
func (s *store) views(ctx context.Context, prefix string) ([]view, error) {
	var names []string
	for name, err := range s.Names(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	views := []view{}
	for _, name := range names {
		queue, err := s.Queue(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(queue) > 0 {
			views = append(views, viewOf(name, queue))
		}
	}
	return views, nil
}

func (a *app) printLocks(views []view) error {
	if a.json {
		return printJSON(a.out, views)
	}
	if len(views) == 0 {
		return nil
	}
	t := &table{}
	t.add("NAME", "HOLDERS", "WAITERS", "HELD BY", "FOR")
	for _, v := range views {
		t.add(append([]string{v.Name, strconv.Itoa(len(v.Holders)), strconv.Itoa(len(v.Waiters))}, v.firstHolder()...)...)
	}
	return t.print(a.out)
}

// firstHolder returns who has the lock, and for how long.
func (v view) firstHolder() []string {
	if len(v.Holders) == 0 {
		return []string{"-", "-"}
	}
	return []string{v.Holders[0].who(), v.Holders[0].age()}
}
