package servers

import (
	"database/sql"
	"testing"
)

// A Database is a kind of database server, and how programs reach one.
type Database struct {
	Name   string
	Start  func(testing.TB, ...string) *Server
	Room   []string // arguments of Start for many connections
	Driver string   // the name of the database/sql driver, which tests import
	URL    func(addr string) string
	Source func(addr string) string // the data source name, for the driver
}

// Databases are the kinds that most tests of locks in databases run on.
var Databases = []Database{
	{
		Name: "mariadb", Start: MariaDB, Driver: "mysql",
		Room:   []string{"--max-connections=2000"},
		URL:    func(addr string) string { return "mysql://root@" + addr + "/test" },
		Source: func(addr string) string { return "root@tcp(" + addr + ")/test" },
	},
	{
		Name: "postgres", Start: Postgres, Driver: "pgx",
		Room:   []string{"-c", "max_connections=1000"},
		URL:    func(addr string) string { return "postgres://postgres@" + addr + "/postgres" },
		Source: func(addr string) string { return "postgres://postgres@" + addr + "/postgres" },
	},
}

// Pool opens connections to the server at an address, as any other program does. It is closed with the test.
func (d Database) Pool(t testing.TB, addr string) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver, d.Source(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
