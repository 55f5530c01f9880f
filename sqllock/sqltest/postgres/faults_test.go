package postgres

import (
	"database/sql"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// faults are raised by a trigger that counts in a sequence, which no transaction takes back.
var faults = claimstest.Faults{
	Prepare: []string{
		"CREATE SEQUENCE faults",
		"CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
			" IF nextval('faults') <= 2 THEN RAISE EXCEPTION 'a fault' USING ERRCODE = TG_ARGV[0]; END IF;" +
			" RETURN NEW; END $$",
	},
	Raise: func(code string) []string {
		return []string{
			"ALTER SEQUENCE faults RESTART",
			"DROP TRIGGER IF EXISTS fault ON holdfast_claims",
			"CREATE TRIGGER fault BEFORE INSERT ON holdfast_claims FOR EACH ROW EXECUTE FUNCTION fault('" + code + "')",
		}
	},
	Stop: []string{"DROP TRIGGER fault ON holdfast_claims", "DROP FUNCTION fault", "DROP SEQUENCE faults"},
	Undone: []string{
		"57014", // statement_timeout, or an administrator
	},
	Lost: []string{
		"25P04", // transaction_timeout, since PostgreSQL 17, which ends the connection
		"25006",
	},
	Refuse: func(t *testing.T, db *sql.DB) (allow func()) {
		// The postmaster tells one session after the other, and begins a session when it has told all. So a value that
		// a new session shows has reached the driver's.
		db.SetMaxIdleConns(-1)
		set := func(value string) {
			for _, statement := range []string{
				"ALTER SYSTEM SET default_transaction_read_only = " + value, "SELECT pg_reload_conf()",
			} {
				if _, err := db.Exec(statement); err != nil {
					t.Error(err)
				}
			}
			var now string
			for now != value {
				if err := db.QueryRow("SHOW default_transaction_read_only").Scan(&now); err != nil {
					t.Fatal(err)
				}
			}
		}
		set("on")
		return func() { set("off") }
	},
	User: func(_ *testing.T, _ *sql.DB, url string) string { return url },
}
