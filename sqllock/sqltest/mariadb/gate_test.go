package mariadb

import (
	"strings"

	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

var gate = claimstest.Gate{
	Build: []string{
		"CREATE TABLE gate_pass (session BIGINT PRIMARY KEY)",
		`CREATE FUNCTION gate(p_id VARBINARY(64)) RETURNS INT NOT DETERMINISTIC READS SQL DATA
		BEGIN
			IF NOT EXISTS (SELECT 1 FROM gate_pass WHERE session = CONNECTION_ID()) AND GET_LOCK('gate', 600) THEN
				DO RELEASE_LOCK('gate');
			END IF;
			RETURN 1;
		END`,
		"RENAME TABLE holdfast_claims TO gated_claims",
		"CREATE ALGORITHM = MERGE VIEW holdfast_claims AS SELECT * FROM gated_claims WHERE gate(id) = 1",
		dropPass, pass(""), // a view has no index
	},
	Pass:    "REPLACE INTO gate_pass SELECT ID FROM information_schema.PROCESSLIST",
	Shut:    "DO GET_LOCK('gate', 0)",
	Open:    "DO RELEASE_LOCK('gate')",
	Stopped: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'",
	Raze: []string{
		dropPass, pass(byQueue),
		"DROP VIEW holdfast_claims",
		"RENAME TABLE gated_claims TO holdfast_claims",
		"DROP FUNCTION gate",
		"DROP TABLE gate_pass",
	},
}

const (
	byQueue  = " FORCE INDEX (holdfast_claims_queue)"
	dropPass = "DROP PROCEDURE holdfast1_pass"
)

// pass makes the routine that carries out releases, with this hint.
func pass(hint string) string {
	script, err := sqllock.MigrateScript(sqllock.MySQL)
	if err != nil {
		panic(err)
	}
	const begin, end = "CREATE PROCEDURE holdfast1_pass(", "\nEND"
	_, text, _ := strings.Cut(script, begin)
	text, _, _ = strings.Cut(text, end)
	return begin + strings.ReplaceAll(text, byQueue, hint) + end
}
