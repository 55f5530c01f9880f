package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

// Bounds of --older-than. What is younger than the least may belong to a request that is under way; the default
// leaves a clock that was set back by a day without effect on tokens.
const (
	leastAge   = time.Minute
	defaultAge = 24 * time.Hour
)

// reapVerb is holdfast reap.
func (a *app) reapVerb() *cobra.Command {
	var age time.Duration
	c := &cobra.Command{
		Use:   "reap [--older-than DURATION]",
		Short: "Remove what unused locks have left behind",
		Long: `Reap removes what nobody has used for --older-than, and reports what it removed: the tokens of unused locks, and the
claims of clients that died. It never touches a lock that is held or waited for. Backends remove most of this by
themselves, and some keep nothing at all. Use reap to remove it now.

` + exitHelp,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if age < leastAge {
				return usage("--older-than %v is too short; it must be %v or more, so that nothing of a request under "+
					"way is removed", age, leastAge)
			}
			return a.use(c.Context(), func(s *store) error { return a.reap(c.Context(), s, age) })
		},
	}
	a.backend.register(c)
	durationVar(c.Flags(), &age, "older-than", "", defaultAge,
		"remove what was not used for this long, a minute or more")
	return c
}

func (a *app) reap(ctx context.Context, s *store, age time.Duration) error {
	removed, err := s.ReapOlderThan(ctx, age)
	return errors.Join(a.printRemoved(removed), err)
}

// A leftover is something that was removed, as it is shown.
type leftover struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // of the lock it belonged to
}

func (a *app) printRemoved(removed []holdfast.Leftover) error {
	if a.json {
		shown := make([]leftover, len(removed))
		for i, l := range removed {
			shown[i] = leftover(l)
		}
		return printJSON(a.out, shown)
	}
	if len(removed) == 0 {
		_, err := fmt.Fprintln(a.out, "nothing was left behind")
		return err
	}
	t := &table{}
	t.add("REMOVED", "LOCK")
	for _, l := range removed {
		t.add(l.Kind, dash(l.Name))
	}
	return t.print(a.out)
}
