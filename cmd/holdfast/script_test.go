//go:build linux

package main

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// The scripts in testdata are whole sessions. Each runs on a file, and in make test-long on every other backend that
// shells share; the conditions [file], [redis], [mariadb] and [postgres] tell which it is. Those in testdata/command
// are about what the command does with programs, terminals and words, whatever the backend: they run on a file, in
// make test-long on one server, and in a soak on all. Beside holdfast they use the programs of programs_test.go.
func TestMain(m *testing.M) { testscript.Main(crowd{m}, programs()) }

// programs are what scripts find beside those of the system.
func programs() map[string]func() {
	return map[string]func(){
		"holdfast":   main,
		"coded":      coded,
		"await":      await,
		"queued":     queued,
		"dead":       dead,
		"freeze":     freeze,
		"onterminal": onTerminal,
		"asroot":     asRoot,
	}
}

// A crowd of tests runs at once, more than there are processors: most of them wait most of the time.
type crowd struct{ *testing.M }

func (c crowd) Run() int {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "6")
	}
	if bubble.Raced {
		folder, err := os.MkdirTemp("", "holdfast-lean")
		if err == nil {
			defer os.RemoveAll(folder)
			err = makeLean(folder)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return c.M.Run()
}

func TestOnFile(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	url := func(work string) string { return "file:" + filepath.Join(work, "locks.db") }
	sessions(t, "file", scripts(t, "testdata", "testdata/command"), raced, url)
}

func TestOnRedis(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	files := []string{"testdata/command/guard.txtar"} // a part of it needs a server
	if effort.IsLong() {
		files = append(files, scripts(t, "testdata")...)
	}
	onRedis(t, files)
}

func TestCommandOnRedis(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	onRedis(t, scripts(t, "testdata/command"))
}

func onRedis(t *testing.T, files []string) {
	server := servers.Redis(t)
	sessions(t, "redis", files, leanly, func(work string) string {
		return "redis://" + server.Addr + "?prefix=" + filepath.Base(work) + ":"
	})
}

func TestOnMariaDB(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	server := servers.MariaDB(t)
	onServer(t, "mariadb", "mysql", func(database string) string {
		return "mysql://root@" + server.Addr + "/" + database
	})
}

func TestOnPostgres(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	server := servers.Postgres(t)
	onServer(t, "postgres", "pgx", func(database string) string {
		return "postgres://postgres@" + server.Addr + "/" + database + "?sslmode=disable"
	})
}

// onServer gives each script a database of its own. That of Postgres is a copy of one that nobody may use, because the
// one that it copies otherwise may be in use by another script.
func onServer(t *testing.T, backend, driver string, url func(database string) string) {
	source, create := url("postgres"), "CREATE DATABASE %s TEMPLATE template0"
	if driver == "mysql" {
		create = "CREATE DATABASE %s"
		source = strings.Replace(strings.TrimPrefix(url(""), "mysql://"), "@", "@tcp(", 1)
		source = strings.TrimSuffix(source, "/") + ")/"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	folders := []string{"testdata"}
	if effort.IsSoak() {
		folders = append(folders, "testdata/command")
	}
	sessions(t, backend, scripts(t, folders...), leanly, func(work string) string {
		database := strings.NewReplacer("-", "_", ".", "_").Replace(filepath.Base(work))
		if _, err := db.Exec(fmt.Sprintf(create, database)); err != nil {
			t.Fatal(err)
		}
		if err := sqllock.MigrateURL(t.Context(), url(database)); err != nil {
			t.Fatal(err)
		}
		return url(database)
	})
}

// scripts are those in these folders.
func scripts(t *testing.T, folders ...string) (files []string) {
	t.Helper()
	for _, folder := range folders {
		here, err := filepath.Glob(folder + "/*.txtar")
		if err != nil || len(here) == 0 {
			t.Fatalf("%s has no scripts: %v", folder, err)
		}
		files = append(files, here...)
	}
	return files
}

// sessions runs scripts on a backend, with the command that choose lets them find: raced or leanly. url makes the
// backend's URL for a script, given the script's folder, so that scripts do not meet.
func sessions(t *testing.T, backend string, files []string, choose func(*testscript.Env), url func(string) string) {
	testscript.Run(t, testscript.Params{
		Files:     files,
		Condition: func(name string) (bool, error) { return name == backend, nil },
		Setup: func(env *testscript.Env) error {
			prepare(env, url(env.WorkDir))
			choose(env)
			return nil
		},
	})
}

// prepare sets the environment of a script, and has what it starts end with it.
func prepare(env *testscript.Env, url string) {
	heedSignals()
	endWithScript(env)
	env.Setenv("HOLDFAST_BACKEND", url)
	env.Setenv("GORACE", "atexit_sleep_ms=0") // or each program takes a second to end
	env.Setenv("HOST", hostname())
	env.Setenv("WHO", username())
}

// heedSignals keeps what was started to ignore signals, by nohup or &, from passing that on to the programs of scripts.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func username() string {
	u, err := user.Current()
	if err != nil {
		return strconv.Itoa(os.Geteuid())
	}
	return u.Username
}

func hostname() string {
	host, _ := os.Hostname() // as self does
	return host
}
