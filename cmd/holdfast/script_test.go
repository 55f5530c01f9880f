//go:build linux

package main

import (
	"database/sql"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// The scripts in testdata are whole sessions. Each runs on every backend that shells share; the conditions [file],
// [redis], [mariadb] and [postgres] tell which it is. Beside holdfast they use the programs of programs_test.go.
func TestMain(m *testing.M) {
	testscript.Main(crowd{m}, map[string]func(){
		"holdfast":   main,
		"coded":      coded,
		"await":      await,
		"queued":     queued,
		"dead":       dead,
		"onterminal": onTerminal,
		"asroot":     asRoot,
	})
}

// A crowd of tests runs at once, more than there are processors: most of them wait most of the time.
type crowd struct{ *testing.M }

func (c crowd) Run() int {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "4")
	}
	return c.M.Run()
}

func TestOnFile(t *testing.T) {
	t.Parallel()
	sessions(t, "file", func(work string) string { return "file:" + filepath.Join(work, "locks.db") })
}

func TestOnRedis(t *testing.T) {
	t.Parallel()
	server := servers.Redis(t)
	sessions(t, "redis", func(work string) string {
		return "redis://" + server.Addr + "?prefix=" + filepath.Base(work) + ":"
	})
}

func TestOnMariaDB(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t)
	onServer(t, "mariadb", "mysql", func(database string) string {
		return "mysql://root@" + server.Addr + "/" +
			database
	})
}

func TestOnPostgres(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	onServer(t, "postgres", "pgx", func(database string) string {
		return "postgres://postgres@" + server.Addr + "/" + database + "?sslmode=disable"
	})
}

// onServer gives each script a database of its own.
func onServer(t *testing.T, backend, driver string, url func(database string) string) {
	source := url("postgres")
	if driver == "mysql" {
		source = strings.Replace(strings.TrimPrefix(url(""), "mysql://"), "@", "@tcp(", 1)
		source = strings.TrimSuffix(source, "/") + ")/"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	sessions(t, backend, func(work string) string {
		database := strings.NewReplacer("-", "_", ".", "_").Replace(filepath.Base(work))
		if _, err := db.Exec("CREATE DATABASE " + database); err != nil {
			t.Fatal(err)
		}
		if err := sqllock.MigrateURL(t.Context(), url(database)); err != nil {
			t.Fatal(err)
		}
		return url(database)
	})
}

// sessions runs all scripts on a backend. url makes its URL for a script, given the script's folder, so that scripts do
// not meet.
func sessions(t *testing.T, backend string, url func(work string) string) {
	testscript.Run(t, testscript.Params{
		Dir:       "testdata",
		Condition: func(name string) (bool, error) { return name == backend, nil },
		Setup: func(env *testscript.Env) error {
			prepare(env, url(env.WorkDir))
			return nil
		},
	})
}

// prepare sets the environment of a script.
func prepare(env *testscript.Env, url string) {
	heedSignals()
	env.Setenv("HOLDFAST_BACKEND", url)
	env.Setenv("GORACE", "atexit_sleep_ms=0") // or each program takes a second to end
	env.Setenv("HOST", hostname())
}

// heedSignals keeps what was started to ignore signals, by nohup or &, from passing that on to the programs of scripts.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func hostname() string {
	host, _ := os.Hostname() // as self does
	return host
}
