package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// revokeVerb is holdfast revoke.
func (a *app) revokeVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Ask the holders of a lock to release it",
		Long: `Revoke asks the holders of a lock to release it, and returns at once. The holders decide: holdfast run sends TERM to
its command (see --on-revoke), and a program learns of it from Lease.Revoked. Show says for an hour who has asked, where
the backend keeps notes of it. To take a lock away by force, use break.

` + exitHelp,
		ValidArgsFunction: a.completeName,
		Args:              takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error { return a.revoke(c.Context(), s, args[0]) }, asUser())
		},
	}
	a.backend.register(c)
	return c
}

func (a *app) revoke(ctx context.Context, s *store, name string) error {
	queue, err := s.Queue(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Revoke(ctx, name); err != nil {
		return err
	}
	return a.printAsked(name, viewOf(name, queue).Holders)
}

func (a *app) printAsked(name string, asked []claim) error {
	if a.json {
		return printJSON(a.out, struct {
			Name  string  `json:"name"`
			Asked []claim `json:"asked"`
		}{name, asked})
	}
	return a.printHolders(name, asked, func(c claim) string {
		return fmt.Sprintf("asked claim %s of %s to release it", printable(c.ID), c.who())
	})
}
