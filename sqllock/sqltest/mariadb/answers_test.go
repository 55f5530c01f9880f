package mariadb

import (
	"database/sql"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t, "--max-connections=10")
	db, err := sql.Open("mysql", "root@tcp("+server.Addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE USER stranger@'%' IDENTIFIED BY 'right'", "CREATE DATABASE other",
		"CREATE USER limited@'%' WITH MAX_CONNECTIONS_PER_HOUR 1", "GRANT ALL ON test.* TO limited@'%'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	claimstest.TestAnswers(t, []claimstest.Answer{
		{Name: "no such database", URL: "mysql://root@" + server.Addr + "/none", Code: "1049",
			Effect: driver.Refused, Advice: "create the database"},
		{Name: "a wrong password", URL: "mysql://stranger:secret@" + server.Addr + "/test", Code: "1045",
			Effect: driver.Refused, Advice: "check the user and the password"},
		{Name: "no rights", URL: "mysql://stranger:right@" + server.Addr + "/other", Code: "1044",
			Effect: driver.Refused, Advice: "rights"},
		{Name: "a user with no connection left", URL: "mysql://limited@" + server.Addr + "/test", Code: "1226",
			Effect: driver.NotNow, Advice: "ALTER USER"},
	})
	t.Run("a full server", func(t *testing.T) {
		for range 20 { // one more than there may be, of a user with all rights
			c, err := db.Conn(t.Context())
			if err != nil {
				break
			}
			defer c.Close()
		}
		claimstest.TestAnswers(t, []claimstest.Answer{{
			Name: "full", URL: "mysql://root@" + server.Addr + "/test", Code: "1040", Effect: driver.NotNow,
			Advice: "max_connections",
		}})
	})
}

func TestLossHasTheCause(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t)
	admin := "root@tcp(" + server.Addr + ")/test"
	if err := sqllock.MigrateURL(t.Context(), "mysql://root@"+server.Addr+"/test"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", admin)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do("CREATE USER app@'%'")
	do("GRANT ALL ON test.* TO app@'%'")
	claimstest.TestLossHasTheCause(t, "mysql://app@"+server.Addr+"/test", "4151", func() {
		do("ALTER USER app@'%' ACCOUNT LOCK")
		do("KILL HARD USER app")
	})
}
