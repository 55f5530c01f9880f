package contender

import (
	"context"
	"database/sql"
	"errors"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/wire"
	_ "github.com/holdfast-go/holdfast/sqllock" // the schemes mysql and postgres
)

// OnMariaDB are those who are compared on MariaDB.
func OnMariaDB() Cast { return mariaDB.cast("GET_LOCK") }

// OnPostgres are those who are compared on PostgreSQL.
func OnPostgres() Cast { return postgres.cast("pg_advisory_lock") }

// A database is how to reach one kind of server, and what it calls its own locks.
type database struct {
	url      func(addr string) string // for Holdfast
	driver   string                   // of database/sql
	module   string
	source   func(addr string) string
	protocol wire.Protocol

	take, give         string // its own lock, which a session holds
	insertOne, dropOne string // a row
}

var mariaDB = database{
	url:       func(addr string) string { return "mysql://root@" + addr + "/test" },
	driver:    "mysql",
	module:    "github.com/go-sql-driver/mysql",
	source:    func(addr string) string { return "root@tcp(" + addr + ")/test" },
	protocol:  wire.MySQL(),
	take:      "SELECT GET_LOCK(?, 600) = 1",
	give:      "SELECT RELEASE_LOCK(?) = 1",
	insertOne: "INSERT INTO bench_raw (name) VALUES (?)",
	dropOne:   "DELETE FROM bench_raw WHERE name = ?",
}

var postgres = database{
	url:       func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" },
	driver:    "pgx",
	module:    "github.com/jackc/pgx/v5",
	source:    func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" },
	protocol:  wire.Postgres(),
	take:      "SELECT pg_advisory_lock(hashtextextended($1, 0)) IS NOT NULL",
	give:      "SELECT pg_advisory_unlock(hashtextextended($1, 0))",
	insertOne: "INSERT INTO bench_raw (name) VALUES ($1)",
	dropOne:   "DELETE FROM bench_raw WHERE name = $1",
}

func (d database) cast(ownLock string) Cast {
	return Cast{
		Limit: Contender{
			Name:   "raw",
			Module: d.module,
			Note:   "a row that is inserted, then deleted, each in a transaction of its own; prepared statements",
			Open: func(ctx context.Context, addr string) (Client, error) {
				return d.open(ctx, addr, d.insertOne, d.dropOne)
			},
			Protocol: d.protocol,
		},
		Ours: Contender{
			Name:   "holdfast",
			Module: "github.com/holdfast-go/holdfast",
			Note:   "a TTL of 60 s",
			Waits:  true,
			Open: func(ctx context.Context, addr string) (Client, error) {
				client, err := holdfast.Open(ctx, d.url(addr), holdfast.WithTTL(SessionTTL))
				if err != nil {
					return nil, err
				}
				return holdfastClient{client}, nil
			},
			Protocol: d.protocol,
		},
		Rivals: []Contender{{
			Name:   ownLock,
			Module: d.module,
			Note:   "a session for each client, which blocks in the server; prepared statements; no token, no lease",
			Waits:  true,
			Alone:  true,
			Open: func(ctx context.Context, addr string) (Client,
				error) {
				return d.open(ctx, addr, d.take, d.give)
			},
			Protocol: d.protocol,
		}},
	}
}

// A statementClient locks by one statement and unlocks by another, on a session of its own.
type statementClient struct {
	db         *sql.DB
	lock, free *sql.Stmt
}

// open prepares the statements on the one connection that the client has.
func (d database) open(ctx context.Context, addr, lock, free string) (Client, error) {
	db, err := sql.Open(d.driver, d.source(addr))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &statementClient{db: db}
	if c.lock, err = db.PrepareContext(ctx, lock); err == nil {
		c.free, err = db.PrepareContext(ctx, free)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return c, nil
}

func (c *statementClient) Lock(ctx context.Context, name string) (Held, error) {
	return statementHeld{c, name}, run(ctx, c.lock, name)
}

func (c *statementClient) Close() error { return c.db.Close() }

type statementHeld struct {
	client *statementClient
	name   string
}

func (h statementHeld) Unlock(ctx context.Context) error { return run(ctx, h.client.free, h.name) }

// run runs a statement, which says that it did its work, or returns nothing.
func run(ctx context.Context, stmt *sql.Stmt, name string) error {
	rows, err := stmt.QueryContext(ctx, name)
	if err != nil {
		return err
	}
	defer rows.Close()
	done := true
	for rows.Next() {
		if err := rows.Scan(&done); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !done {
		return errRawTaken
	}
	return nil
}
