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
	var script bool
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Make the tables that locks need in a database",
		Long: `Migrate makes the tables and routines that locks need in a MySQL, MariaDB or PostgreSQL database. Their names
begin with holdfast. Run it with each new version, and after a restore: tables of an earlier version are brought
forward with what is in them, and the routines are made anew. The user of the URL needs the right to make tables and
routines; those who use the locks afterwards need to read and write these tables, and to execute these routines.

With --print it prints the SQL instead, for those whose administrator or migration tool runs it, and connects to
nothing.

Other backends need nothing of the kind.

` + exitHelp,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if script {
				return a.printMigration()
			}
			return a.migrate(c.Context())
		},
	}
	c.Flags().BoolVar(&script, "print", false, "print the SQL, and change nothing")
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
	_, err = fmt.Fprintf(a.out, text, printable(m.Backend))
	return err
}

// printMigration prints what migrate would do.
func (a *app) printMigration() error {
	_, shown, err := a.backend.locate()
	if err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(shown, ":")
	if dialects[scheme] == nil {
		return usage("%s needs no tables; --print is for mysql:// and postgres://", shown)
	}
	script, err := sqllock.MigrateScript(dialects[scheme])
	if err == nil {
		_, err = fmt.Fprint(a.out, script)
	}
	return err
}

// dialects are those of the databases that have tables, by scheme.
var dialects = map[string]*sqllock.Dialect{"mysql": sqllock.MySQL, "postgres": sqllock.Postgres}

// hasTables reports whether backends of a scheme have tables that are made by request.
func hasTables(scheme string) bool { return dialects[scheme] != nil }
