package postgres

import (
	"database/sql"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/lab/sqltest/claimstest"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/jackc/pgx/v5/stdlib"
)

const others = " FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"

func TestClaims(t *testing.T) {
	url := func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" }
	claimstest.Run(t, func(t testing.TB) claimstest.Store {
		return claimstest.Store{
			Server:   servers.Postgres(t),
			Dialect:  sqllock.Postgres,
			URL:      url,
			Source:   url,
			SQL:      "pgx",
			Sessions: "SELECT count(*)" + others,
			Sleeping: "SELECT count(*)" + others + " AND state = 'active' AND query LIKE '%holdfast1_wait%' AND wait_event IS NOT NULL",
			KillAll: func(t testing.TB, db *sql.DB) {
				t.Helper()
				if _, err := db.Exec("SELECT pg_terminate_backend(pid)" + others); err != nil {
					t.Fatal(err)
				}
			},
			Gate: gate,
			Stranger: []string{
				"CREATE USER stranger PASSWORD 'secret'",
			},
			Settings: []claimstest.Setting{
				{Statement: "ALTER DATABASE postgres SET synchronous_commit = off", Fact: "synchronous_commit is off", Level: driver.Warning},
				{Statement: "ALTER DATABASE postgres SET default_transaction_read_only = on", Fact: "transaction_read_only is on", Level: driver.Unsafe},
			},
		}
	})
}
