package postgres

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// The tables may be in a schema of their own, and those of several programs in one database.
func TestSchemasApart(t *testing.T) {
	t.Parallel()
	url := "postgres://postgres@" + servers.Postgres(t).Addr + "/postgres?sslmode=disable"
	for _, statement := range []string{"CREATE SCHEMA locks", `CREATE SCHEMA "more locks"`} {
		if _, err := database(t, url).Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	claimstest.TestApart(t, url+"&search_path=locks", url+"&search_path=%22more%20locks%22", url)
	if err := sqllock.MigrateURL(t.Context(), url+"&search_path=locks,public"); err != nil {
		t.Errorf("the first of two schemas that have the tables: %v", err)
	}
	if err := sqllock.MigrateURL(t.Context(), url+"&search_path=none"); !isRefused(err, "create the schema first") {
		t.Errorf("a schema that is not there: %v", err)
	}
}
