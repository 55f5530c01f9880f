//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A server that runs, and is not prepared for locks or for us, is not to be started: doctor says what it lacks, and the
// same each time.
func TestDoctorOnServersThatAreNotPrepared(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		url  func(t *testing.T) string
		says []string // in facts or advice
	}{
		"postgres without tables": {postgresWith(""), []string{"holdfast migrate"}},
		"postgres without the database": {func(t *testing.T) string {
			return strings.Replace(postgresWith("")(t), "/postgres?", "/missing?", 1)
		}, []string{`database "missing" does not exist`}},
		"postgres without rights": {func(t *testing.T) string {
			url := postgresWith("CREATE ROLE app LOGIN PASSWORD 'app'")(t)
			migrate(t, url)
			return strings.Replace(url, "postgres@", "app:app@", 1)
		}, []string{"permission denied"}},
		"mariadb without tables":       {mariadbWith("test", ""), []string{"holdfast migrate"}},
		"mariadb without the database": {mariadbWith("missing", ""), []string{"Unknown database 'missing'"}},
		"mariadb without rights": {mariadbWith("test", "CREATE USER app@'%' IDENTIFIED BY 'app'"),
			[]string{"denied"}},
		"redis without a password":  {redisWith("", "CONFIG", "SET", "requirepass", "x"), []string{"NOAUTH"}},
		"redis with a wrong one":    {redisWith("app:wrong@", "+@all"), []string{"WRONGPASS"}},
		"redis without rights":      {redisWith("app:app@", "+@connection"), []string{"NOPERM"}},
		"redis with other prefixes": {redisWith("app:app@", "+@all", "~other:*"), []string{"NOPERM"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := row.url(t)
			code, d := examine(t, url)
			if code != unsafe {
				t.Errorf("exit code %d, want %d", code, unsafe)
			}
			text := ""
			for _, f := range d.Findings {
				text += f.Level + ": " + f.Fact + " -> " + f.Advice + "\n"
			}
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			for _, wrong := range []string{"start it", "find out why", "is the server running", "reachable"} {
				if strings.Contains(text, wrong) {
					t.Errorf("it says %q", wrong)
				}
			}
			if _, again := examine(t, url); again.Verdict != d.Verdict || len(again.Findings) != len(d.Findings) {
				t.Errorf("the next time it finds %+v", again)
			}
			t.Log(text)
		})
	}
}

func postgresWith(statement string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		url := "postgres://postgres@" + servers.Postgres(t).Addr + "/postgres?sslmode=disable"
		if statement != "" {
			execute(t, "pgx", url, statement)
		}
		return url
	}
}

// mariadbWith is a database of root, or of the user app if a statement creates that.
func mariadbWith(database, statement string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		addr, user := servers.MariaDB(t).Addr, "root"
		if statement != "" {
			migrate(t, "mysql://root@"+addr+"/test")
			execute(t, "mysql", "root@tcp("+addr+")/test", statement)
			user = "app:app"
		}
		return "mysql://" + user + "@" + addr + "/" + database
	}
}

// redisWith is a server after a command, or with a user app that has some rights.
func redisWith(user string, command ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		s := servers.Redis(t)
		if user != "" {
			command = append([]string{"ACL", "SETUSER", "app", "on", ">app"}, command...)
		}
		s.RedisCommand(t, command...)
		return "redis://" + user + s.Addr
	}
}
