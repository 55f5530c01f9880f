package sqlite

import (
	"embed"
	"strings"
)

//go:embed sql/*.sql
var scripts embed.FS

// A statement is the name of a .sql file, without its ending.
type statement string

// text is the SQL of a statement.
func text(s statement) string {
	text, err := scripts.ReadFile("sql/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is a part of this package
	}
	return strings.TrimSpace(string(text))
}
