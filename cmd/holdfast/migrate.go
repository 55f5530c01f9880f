package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/sqllock"
)

// migrateVerb is holdfast migrate.
func (a *app) migrateVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Make the tables that locks need in a database",
		Long: `Migrate makes the tables and routines that locks need in a MySQL, MariaDB or PostgreSQL database. Their names begin with
holdfast. Where they are there it does nothing. The user of the URL needs the right to make tables and routines; those who
use the locks afterwards need to read and write these tables, and to execute these routines.

Other backends need nothing of the kind.

` + exitHelp,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return a.migrate(c.Context()) },
	}
	a.backend.register(c)
	return c
}

// migrated is what migrate prints.
type migrated struct {
	Backend string `json:"backend"`
	Needed  bool   `json:"needed"` // whether this kind of backend needs tables
}

func (a *app) migrate(ctx context.Context) error {
	rawURL, shown, err := a.backend.locate()
	if err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(shown, ":")
	m := migrated{Backend: shown, Needed: hasTables(scheme)}
	if m.Needed {
		switch err := sqllock.MigrateURL(ctx, rawURL); {
		case err != nil && isUnreachable(err):
			return unavailable(err)
		case err != nil:
			return usage("%w", err)
		}
	}
	if a.json {
		return printJSON(a.out, m)
	}
	text := "%s: the tables are there\n"
	if !m.Needed {
		text = "%s: it needs no tables\n"
	}
	_, err = fmt.Fprintf(a.out, text, m.Backend)
	return err
}

// hasTables reports whether backends of a scheme have tables that are made by request.
func hasTables(scheme string) bool { return scheme == "mysql" || scheme == "postgres" }
