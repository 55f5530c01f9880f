package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/driver"
)

// breakVerb is holdfast break.
func (a *app) breakVerb() *cobra.Command {
	var choose choice
	c := &cobra.Command{
		Use:   "break [flags] NAME",
		Short: "Take a lock away from its holder by force",
		Long: `Break takes a lock away from its holder, or removes one claim from the queue. The holder is told; if it is holdfast
run, it ends its command. Until then, both the old and the next holder may believe that they hold the lock. Show says
for an hour who has done this, where the backend keeps notes of it.

On a terminal, break asks for confirmation. Without a terminal it does not ask, so that scripts can use it.

` + helpCodes + helpSignal + `
  1    there is no such claim, the question was answered with no, or any other error` + helpUsage + helpUnavailable,
		ValidArgsFunction: a.completeName,
		Args:              takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				return a.breakLock(c.Context(), s, args[0], choose)
			}, asUser())
		},
	}
	a.backend.register(c)
	c.Flags().StringVar(&choose.id, "claim", "",
		"`ID` of the claim to break, held or waiting, as show prints it (default: every claim that holds the lock)")
	c.Flags().BoolVarP(&choose.yes, "yes", "y", false, "do not ask")
	return c
}

// A choice says what to break, and whether to ask.
type choice struct {
	id  string
	yes bool
}

func (a *app) breakLock(ctx context.Context, s *store, name string, choose choice) error {
	queue, err := s.Queue(ctx, name)
	if err != nil {
		return err
	}
	claims := choose.among(viewOf(name, queue))
	switch {
	case len(claims) == 0 && choose.id != "":
		return fail("%s has no claim %s in its queue; holdfast show tells the claims", printable(name),
			printable(choose.id))
	case len(claims) > 0 && !choose.yes && !a.agrees(name, claims):
		return fail("nothing was broken")
	}
	claims, err = s.breakAll(ctx, name, claims)
	if err != nil && len(claims) == 0 {
		return err
	}
	return errors.Join(err, a.printBroken(name, claims))
}

// among picks the claims to break: the one that was named, or all that hold the lock.
func (c choice) among(v view) []claim {
	if c.id == "" {
		return v.Holders
	}
	picked := []claim{}
	for _, one := range slices.Concat(v.Holders, v.Waiters) {
		if one.ID == c.id {
			picked = append(picked, one)
		}
	}
	return picked
}

// agrees asks on a terminal. Without one there is nobody to ask.
func (a *app) agrees(name string, claims []claim) bool {
	if !isTerminal(a.in) {
		return true
	}
	for _, c := range claims {
		fmt.Fprintf(a.err, "%s: claim %s of %s since %s\n", printable(name), printable(c.ID), c.who(), clock(c.Since))
	}
	fmt.Fprint(a.err, "Break? Work under it may overlap with its successor's. [y/N] ")
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is a no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// breakAll breaks the claims, and returns those that it broke. The others had ended meanwhile.
func (s *store) breakAll(ctx context.Context, name string, claims []claim) ([]claim, error) {
	broken := []claim{}
	for _, c := range claims {
		switch err := s.Break(ctx, name, c.ID); {
		case err == nil:
			broken = append(broken, c)
		case !errors.Is(err, driver.ErrGone):
			return broken, err
		}
	}
	return broken, nil
}

func (a *app) printBroken(name string, broken []claim) error {
	if a.json {
		return printJSON(a.out, struct {
			Name   string  `json:"name"`
			Broken []claim `json:"broken"`
		}{name, broken})
	}
	return a.printHolders(name, broken, func(c claim) string {
		return fmt.Sprintf("broke claim %s of %s", printable(c.ID), c.who())
	})
}

// printHolders says of each of the claims that had a lock what was done to it.
func (a *app) printHolders(name string, claims []claim, done func(claim) string) error {
	if len(claims) == 0 {
		_, err := fmt.Fprintf(a.out, "%s: nobody holds it\n", printable(name))
		return err
	}
	for _, c := range claims {
		if _, err := fmt.Fprintf(a.out, "%s: %s\n", printable(name), done(c)); err != nil {
			return err
		}
	}
	return nil
}
