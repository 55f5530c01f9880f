package nemesis

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// file is locks in a file. What befalls it befalls the processes that have it open.
func file(t testing.TB) *Store {
	disk, why := t.TempDir(), absent("there is no server", Names...)
	why[FullDisk] = "without the rights of root it has no disk of its own"
	var faults []Fault
	if os.Getuid() == 0 {
		disk = servers.SmallDisk(t, 32)
		faults = []Fault{{Name: FullDisk, Harm: Outage, Begin: func(t testing.TB) func() {
			return servers.FillDisk(t, disk)
		}}}
		delete(why, FullDisk)
	}
	path := filepath.Join(disk, "locks.db")
	return &Store{
		Name: "file", TTL: time.Second,
		URL: func([]string) string { return "file:" + path },
		Database: func([]string) Database {
			return Database{"sqlite", filepath.Join(disk, "numbers.db") + "?_pragma=journal_mode(WAL)"}
		},
		Files:  []string{path + ".clients", path + "-shm"}, // the turns of writers, and the locks of SQLite
		Absent: why, Faults: faults,
	}
}

// ofDatabases are the reasons of one database server.
func ofDatabases() map[string]string {
	why := absent("it is one server", append([]string{Failover}, together...)...)
	maps.Copy(why, absent("its tables are gone, which is an error until they are made again", Empty))
	maps.Copy(why, absent("it is not tried; requests wait or fail, as in a pause or a crash", SlowDisk, FullDisk,
		FullMemory))
	maps.Copy(why, absent("nothing stands before it", Pooler))
	maps.Copy(why, absent(unspread, SlotsMove))
	maps.Copy(why, absent("it throws nothing away", Evicts))
	return why
}

func mariaDB(t testing.TB) *Store {
	s := newPrivate(t, servers.SecureMariaDB(t))
	why := ofDatabases()
	maps.Copy(why, absent("it is as with PostgreSQL, which has it", ClockForward, ClockBack))
	return migrated(t, &Store{
		Name: "mariadb", TTL: 4 * time.Second, Addrs: []string{s.line.Addr}, Absent: why, Swept: true,
		URL: func(addrs []string) string { return "mysql://root@" + addrs[0] + "/test?ca=" + s.Authority.File },
		Database: func(addrs []string) Database {
			return Database{mySQL.database.Driver, mySQL.database.Source(addrs[0])}
		},
		Faults: append(s.certificates(),
			kill(Kill, Outage, always(s.Server)), pause(Pause, Outage, always(s.Server)),
			endSessions(Nothing, mySQL, s.Server),
		),
	})
}

func postgres(t testing.TB) *Store {
	clock := newClock(t)
	s := newPrivate(t, servers.SecurePostgres(t, clock.Clock))
	return migrated(t, &Store{
		Name: "postgres", TTL: 4 * time.Second, Addrs: []string{s.line.Addr}, Absent: ofDatabases(), Swept: true,
		URL: func(addrs []string) string { return verified(addrs, s) },
		Database: func(addrs []string) Database {
			return Database{postgreSQL.database.Driver, verified(addrs, s)}
		},
		Faults: append(s.certificates(),
			kill(Kill, Outage, always(s.Server)), pause(Pause, Outage, always(s.Server)),
			clock.forward(Amnesia), clock.back(Outage), endSessions(Nothing, postgreSQL, s.Server),
		),
	})
}

// verified is for clients who know the authority of a server.
func verified(addrs []string, s private) string {
	return "postgres://postgres@" + addrs[0] + "/postgres?sslmode=verify-full&sslrootcert=" + s.Authority.File
}

// pgBouncer is PostgreSQL behind a pooler that gives each transaction another session.
func pgBouncer(t testing.TB) *Store {
	s := servers.Postgres(t)
	pooler := servers.PgBouncer(t, s, "transaction", "server_login_retry = 1") // see docs/sql.md
	why := ofDatabases()
	delete(why, Pooler)
	maps.Copy(why, absent("it is as with PostgreSQL alone, which has it", ClockForward, ClockBack, Renewed,
		Expired))
	return migrated(t, &Store{
		Name: "pgbouncer", TTL: 4 * time.Second, Addrs: addrs(pooler), Absent: why, Swept: true,
		URL: pooled,
		Database: func(addrs []string) Database { // the pooler would give a prepared statement to another session
			return Database{postgreSQL.database.Driver, pooled(addrs) + "&default_query_exec_mode=exec"}
		},
		Faults: []Fault{
			kill(Kill, Outage, always(s)), pause(Pause, Outage, always(s)), kill(Pooler, Outage, always(pooler)),
			endSessions(Nothing, postgreSQL, s),
		},
	})
}

func pooled(addrs []string) string {
	return "postgres://postgres@" + addrs[0] + "/postgres?sslmode=disable"
}

// migrated makes the tables of a database.
func migrated(t testing.TB, s *Store) *Store {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), s.URL(s.Addrs)); err != nil {
		t.Fatal(err)
	}
	return s
}
