package sqlite

import (
	"embed"
	"strings"
)

//go:embed sql/*.sql
var scripts embed.FS

// A statement is the name of a .sql file.
type statement string

const (
	hasStore     statement = "has_store"
	readStore    statement = "store"
	forgetAll    statement = "forget"
	setBoot      statement = "set_boot"
	setFloor     statement = "set_floor"
	setBegan     statement = "set_began"
	carryClaims  statement = "carry"
	queueOf      statement = "queue"
	findClaim    statement = "find"
	claimAhead   statement = "ahead"
	claimBehind  statement = "behind"
	nextToken    statement = "fence"
	insertClaim  statement = "insert"
	renewClaim   statement = "renew"
	grantClaim   statement = "grant"
	revokeClaim  statement = "revoke"
	deleteClaim  statement = "delete"
	rememberEnd  statement = "remember"
	recallEnd    statement = "recall"
	pageOf       statement = "page"
	digestOf     statement = "digest"
	expired      statement = "expired"
	claimsOf     statement = "of_client"
	sweepEnds    statement = "sweep_ends"
	sweepFences  statement = "sweep_fences"
	lastOfFences statement = "last_of_fences"
	valueOf      statement = "value"
	setValue     statement = "set_value"
	sweepValues  statement = "sweep_values"
	makeTables   statement = "tables"
)

// text is the SQL of a statement.
func text(s statement) string {
	text, err := scripts.ReadFile("sql/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is a part of this package
	}
	return strings.TrimSpace(string(text))
}
