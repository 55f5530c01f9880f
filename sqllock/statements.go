package sqllock

import (
	"embed"
	"strings"
)

//go:embed sqlite/*.sql
var files embed.FS

// A statement is the name of a file of SQL.
type statement string

// The statements of SQLite.
const (
	schema      statement = "schema"
	queueRows   statement = "queue"
	behindRows  statement = "behind"
	findRow     statement = "find"
	nextFence   statement = "fence"
	insertRow   statement = "insert"
	renewRow    statement = "renew"
	grantRow    statement = "grant"
	revokeRow   statement = "revoke"
	deleteRow   statement = "delete"
	buryID      statement = "bury"
	recallID    statement = "recall"
	sweepEnded  statement = "sweep_ended"
	sweepClaims statement = "sweep_claims"
	sweepFences statement = "sweep_fences"
	nameRows    statement = "names"
	markOf      statement = "mark"
)

// text is the SQL of a statement.
func (s statement) text() string {
	sql, err := files.ReadFile("sqlite/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return strings.TrimSpace(string(sql))
}
