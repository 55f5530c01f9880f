package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t, "-c", "max_connections=5", "-c", "superuser_reserved_connections=0")
	url := "postgres://postgres@" + server.Addr + "/postgres?sslmode=disable"
	db := database(t, url)
	run(t, db, "CREATE USER stranger PASSWORD 'secret'")
	run(t, db, "CREATE DATABASE empty")
	run(t, db, "CREATE USER limited CONNECTION LIMIT 0")
	db.Close()
	at := func(user, name string) string {
		return strings.NewReplacer("//postgres@", "//"+user+"@", "/postgres?", "/"+name+"?").Replace(url)
	}
	claimstest.TestAnswers(t, []claimstest.Answer{
		{Name: "no such database", URL: at("postgres", "none"), Code: "3D000", Effect: driver.Refused,
			Advice: "create the database"},
		{Name: "no such user", URL: at("nobody", "postgres"), Code: "28000", Effect: driver.Refused,
			Advice: "check the user"},
		{Name: "a user with no connection left", URL: at("limited", "postgres"), Code: "53300",
			Effect: driver.NotNow, Advice: "CONNECTION LIMIT"},
	})
	t.Run("a full server", func(t *testing.T) {
		full := database(t, url)
		for range 5 {
			c, err := full.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		claimstest.TestAnswers(t, []claimstest.Answer{{
			Name: "full", URL: url, Code: "53300", Effect: driver.NotNow, Advice: "max_connections",
		}})
	})
}

func TestLossHasTheCause(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	_, db := migrated(t, server)
	run(t, db, "CREATE USER app")
	run(t, db, "GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
	url := strings.Replace(urlOf(server), "postgres@", "app@", 1)
	claimstest.TestLossHasTheCause(t, url, "28000", func() {
		run(t, db, "ALTER ROLE app NOLOGIN")
		run(t, db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
	})
}

// A file with passwords is read for each connection, so that a password can be changed while programs run.
func TestPasswordFileIsReadAgain(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	_, db := migrated(t, server)
	run(t, db, "CREATE USER app PASSWORD 'first'")
	run(t, db, "GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
	const hba = "ARRAY['host all app 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust']"
	run(t, db, "COPY (SELECT unnest("+hba+")) TO '"+filepath.Join(server.Dir, "data", "pg_hba.conf")+"'")
	run(t, db, "SELECT pg_reload_conf()")
	file := filepath.Join(t.TempDir(), "passwords")
	write := func(password string) {
		if err := os.WriteFile(file, []byte("*:*:*:app:"+password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	url := strings.Replace(urlOf(server), "postgres@", "app@", 1) + "&passfile=" + file
	d := open(t, url)
	requested(t, d, "before", true)
	run(t, db, "ALTER ROLE app PASSWORD 'second'")
	write("second")
	run(t, db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
	for granted := false; !granted; driver.Sleep(t.Context(), 10*time.Millisecond) { // the first answer ends a session
		st, err := d.Request(t.Context(), driver.Claim{
			Name: "after", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute,
		})
		if errors.Is(err, driver.ErrRefused) {
			t.Fatal(err)
		}
		granted = err == nil && st.Granted
	}
}
