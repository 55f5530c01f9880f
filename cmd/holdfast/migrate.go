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
		Short: "Create or update the tables that locks need in a database",
		Long: `Migrate creates the tables and routines that locks need in a MySQL, MariaDB or PostgreSQL database. Their names begin
with holdfast. Run it once, and after a restore: it creates what is missing, and replaces the routines. It refuses what
a program of another version has made. The user in the URL needs the right to create tables and routines.
Users of the locks need the rights to read and write these tables and to execute these routines.

With --print it prints the SQL for an administrator or a migration tool to run, and does not connect to a database.

Other backends do not need migrate.

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
	a.backend.registerURL(c)
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
		if err := sqllock.MigrateURL(ctx, rawURL); err != nil {
			return notServed(rawURL, err)
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
