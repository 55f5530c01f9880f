package sessions

import (
	"database/sql"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Databases of one PostgreSQL server have locks of their own. What a database noted long ago, of a session whose
// number another one has now, with a lock of the same name in another database, does neither end that session nor
// keep a row for ever.
func TestLocksOfOtherDatabases(t *testing.T) {
	t.Parallel()
	s := all[1]
	running := s.migrated(t)
	exec(t, s.Pool(t, running.Addr), "CREATE DATABASE other")
	otherURL := "postgres://postgres@" + running.Addr + "/other?mode=session"
	if err := sqllock.MigrateURL(t.Context(), otherURL); err != nil {
		t.Fatal(err)
	}
	here := s.open(t, running.Addr)
	held := claim(t, time.Minute)
	held.Token = acquire(t, here, held).Token

	there, err := drivertest.Open(t.Context(), otherURL)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	old := claim(t, time.Minute)
	old.Token = 1000
	db, err := sql.Open("pgx", "postgres://postgres@"+running.Addr+"/other")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	session := number(t, s.Pool(t, running.Addr), "SELECT session FROM holdfast_sessions")
	note := func(lock driver.Claim) {
		const insert = "INSERT INTO holdfast_sessions (name, token, id, ttl, session) VALUES ($1, $2, $3, 1000000, $4)"
		_, err := db.Exec(insert, []byte(lock.Name), int64(lock.Token), []byte(lock.ID), session)
		if err != nil {
			t.Fatal(err)
		}
	}
	note(old)
	if err := there.Release(t.Context(), old); err == nil {
		t.Error("a claim that nobody had was released")
	}
	if st := request(t, here, held); !st.Granted || st.Token != held.Token {
		t.Errorf("the holder in the other database has %+v", st)
	}
	exec(t, db, "DELETE FROM holdfast_sessions")
	note(old)
	removed, err := driver.Reap(t.Context(), there, time.Millisecond)
	if err != nil || len(removed) != 1 {
		t.Errorf("reaped %v, %v; want the old token, whose lock is free here", removed, err)
	}
}
