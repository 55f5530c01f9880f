package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// leaderVerb is holdfast leader.
func (a *app) leaderVerb() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "leader [--follow] NAME",
		Short: "Show who leads",
		Long: `Leader prints the --value of the leader of an election, or its host:pid and command if it has no value. If nobody leads,
it exits with 1. With --follow it prints a line at once and after each change, "-" while nobody leads, until it is
interrupted. It reports an outage of the backend on standard error; the next line shows that the outage is over.

` + helpCodes + helpSignal + `
  1    nobody leads, or any other error` + helpUsage + helpUnavailable,
		ValidArgsFunction: a.completeName,
		Args:              takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				if err := s.checkName(args[0]); err != nil {
					return err
				}
				if follow {
					return a.followLeader(c.Context(), s, args[0])
				}
				return a.showLeader(c.Context(), s, args[0])
			})
		},
	}
	a.backend.register(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep running, and print each change")
	return c
}

func (a *app) showLeader(ctx context.Context, s *store, name string) error {
	leader, err := s.Election(name).Leader(ctx)
	if errors.Is(err, holdfast.ErrNoLeader) {
		return fail("%s: nobody leads", printable(name))
	}
	if err != nil {
		return err
	}
	return a.printLeader(name, &leader)
}

func (a *app) followLeader(ctx context.Context, s *store, name string) error {
	return untilSignal(ctx, func(watching context.Context) error {
		served := false
		for leader, err := range s.Election(name).Observe(watching) {
			shown := &leader
			switch {
			case errors.Is(err, holdfast.ErrNoLeader):
				shown = nil
			case err != nil && (!served || errors.Is(err, driver.ErrRefused)):
				return err
			case err != nil: // an outage; the next line says who leads after it
				a.warn(err)
				continue
			}
			served = true
			if err := a.printLeader(name, shown); err != nil {
				return err
			}
		}
		return nil
	})
}

// printLeader prints who leads; nil is nobody.
func (a *app) printLeader(name string, leader *holdfast.Entry) error {
	var c *claim
	if leader != nil {
		shown := claimOf(*leader)
		c = &shown
	}
	if a.json {
		return printJSON(a.out, struct {
			Name   string `json:"name"`
			Leader *claim `json:"leader"`
		}{name, c})
	}
	line := "-"
	if c != nil {
		line = printable(cmp.Or(c.shownValue(), c.Owner, c.ID))
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}
