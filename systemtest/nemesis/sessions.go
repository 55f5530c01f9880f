package nemesis

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A dialect is how an operator ends the sessions of others.
type dialect struct {
	database servers.Database
	others   string // lists their numbers
	end      string // ends that with a number
}

var (
	mySQL = dialect{
		servers.Databases[0],
		"SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND user <> 'system user'",
		"KILL %d",
	}
	postgreSQL = dialect{
		servers.Databases[1],
		"SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
		"SELECT pg_terminate_backend(%d)",
	}
)

// endSessions ends all sessions that are there at its beginning.
func endSessions(harm Harm, d dialect, s *servers.Server) Fault {
	return Fault{Name: Sessions, Harm: harm, Begin: func(t testing.TB) func() {
		db := d.database.Pool(t, s.Addr)
		defer db.Close()
		rows, err := db.Query(d.others)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var session int64
			if err := rows.Scan(&session); err != nil {
				t.Fatal(err)
			}
			_, _ = db.Exec(fmt.Sprintf(d.end, session)) // it may have ended
		}
		return func() {}
	}}
}

// ofSessions is a store whose locks are those of the server's sessions.
func ofSessions(t testing.TB, name string, d dialect, s *servers.Server) *Store {
	why := ofDatabases()
	maps.Copy(why, absent("at most it lengthens the timeout of a session: docs/sessions.md", ClockBack))
	maps.Copy(why, absent("a timeout that has begun ends no sooner", ClockForward))
	maps.Copy(why, absent("it is as with an end of all sessions, which it has", Renewed, Expired))
	return migrated(t, &Store{
		Name: name, TTL: 4 * time.Second, Addrs: addrs(s), Absent: why, Mutexes: true, Session: true,
		URL: func(addrs []string) string { return d.database.URL(addrs[0]) + "?mode=session" },
		Faults: []Fault{
			kill(Kill, Amnesia, always(s)), pause(Pause, Outage, always(s)), endSessions(Amnesia, d, s),
		},
	})
}

func mariaDBSessions(t testing.TB) *Store {
	return ofSessions(t, "mariadb sessions", mySQL, servers.MariaDB(t))
}

func postgresSessions(t testing.TB) *Store {
	return ofSessions(t, "postgres sessions", postgreSQL, servers.Postgres(t))
}
