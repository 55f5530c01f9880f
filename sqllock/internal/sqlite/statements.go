package sqlite

import (
	"embed"

	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

//go:embed sql/*.sql
var scripts embed.FS

// A statement is the name of a .sql file, without its ending.
type statement string

// text is the SQL of a statement.
func text(s statement) string { return server.Text(scripts, "sql", string(s)) }
