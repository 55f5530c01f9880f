// Package server has what all ways to keep locks on a database server have in common: what a server understands, and
// statements that are run one by one, with their arguments as literals. It reads the files of statements for all.
package server

import (
	"embed"
	"fmt"
	"strings"
)

// A Kind is a kind of server: MariaDB is one of MySQL.
type Kind struct {
	Name      string              // the folder of .sql files, the scheme of URLs, and what people call it
	Bytes     func(string) string // a literal, in hexadecimal digits whatever it is: nothing in it is read as SQL
	Now       string              // the server's clock, in microseconds since 1970
	SessionID string              // a query for the number of the session
}

// MySQL is MySQL and MariaDB.
var MySQL = Kind{
	Name:      "mysql",
	Bytes:     func(s string) string { return fmt.Sprintf("x'%x'", s) },
	Now:       "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
	SessionID: "SELECT CONNECTION_ID() + 0", // without the sum, ProxySQL answers by itself
}

// Postgres is PostgreSQL.
var Postgres = Kind{
	Name:      "postgres",
	Bytes:     func(s string) string { return fmt.Sprintf("decode('%x', 'hex')", s) },
	Now:       "(EXTRACT(epoch FROM clock_timestamp()) * 1000000)::bigint",
	SessionID: "SELECT pg_backend_pid()",
}

// Text is one of the .sql files of a package.
func Text(files embed.FS, folder, name string) string {
	text, err := files.ReadFile(folder + "/" + name + ".sql")
	if err != nil {
		panic(err) // the file is a part of its package
	}
	return strings.TrimSpace(string(text))
}

// Text is one of the .sql files for this kind of server.
func (k *Kind) Text(files embed.FS, name string) string { return Text(files, k.Name, name) }

// Statement is Text without the comment that it begins with, which the server would read each time, and log.
func (k *Kind) Statement(files embed.FS, name string) string {
	text := k.Text(files, name)
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// Split cuts a script at the semicolons that end its lines.
func Split(script string) []string {
	return strings.Split(strings.TrimSuffix(script, ";"), ";\n")
}
