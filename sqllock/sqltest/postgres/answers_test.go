package postgres

import (
	"strings"
	"testing"

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
