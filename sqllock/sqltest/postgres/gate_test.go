package postgres

import "github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"

var gate = claimstest.Gate{
	Build: []string{
		"CREATE TABLE gate_pass (session integer PRIMARY KEY)",
		`CREATE FUNCTION gate() RETURNS boolean LANGUAGE plpgsql AS $$
		BEGIN
			IF NOT EXISTS (SELECT FROM gate_pass WHERE session = pg_backend_pid()) THEN
				PERFORM pg_advisory_lock_shared(1);
				PERFORM pg_advisory_unlock_shared(1);
			END IF;
			RETURN true;
		END
		$$`,
		"ALTER TABLE holdfast_claims RENAME TO gated_claims",
		"CREATE VIEW holdfast_claims AS SELECT * FROM gated_claims WHERE gate()",
	},
	Pass: "INSERT INTO gate_pass SELECT pid FROM pg_stat_activity ON CONFLICT DO NOTHING",
	Shut: "SELECT pg_advisory_lock(1)",
	Open: "SELECT pg_advisory_unlock(1)",
	Stopped: "SELECT count(*) FROM pg_locks" +
		" WHERE locktype = 'advisory' AND objid = 1 AND classid = 0 AND NOT granted",
	Raze: []string{
		"DROP VIEW holdfast_claims",
		"ALTER TABLE gated_claims RENAME TO holdfast_claims",
		"DROP FUNCTION gate",
		"DROP TABLE gate_pass",
	},
}
