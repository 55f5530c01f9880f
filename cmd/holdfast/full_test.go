//go:build linux

package main

import (
	"bufio"
	"context"
	"database/sql"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A server that has no room for one more client is waited for, in the server's own words, and -n says so at once.
func TestFullServer(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		s := servers.Redis(t, "--maxclients", "20")
		waitsForRoom(t, "redis://"+s.Addr, "max number of clients reached", func(t *testing.T) func() error {
			conn, err := net.Dial("tcp", s.Addr)
			ok(t, err)
			_, _ = io.WriteString(conn, "PING\r\n") // the answer tells
			said, _ := bufio.NewReader(conn).ReadString('\n')
			if !strings.HasPrefix(said, "+PONG") {
				conn.Close()
				return nil
			}
			return conn.Close
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := servers.Postgres(t, "-c", "max_connections=12", "-c", "superuser_reserved_connections=0",
			"-c", "max_wal_senders=0")
		url := "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"
		migrate(t, url)
		waitsForRoom(t, url, "too many clients", sessionOf(t, "pgx", url))
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		s := servers.MariaDB(t, "--max-connections=10")
		migrate(t, "mysql://root@"+s.Addr+"/test")
		execute(t, "mysql", "root@tcp("+s.Addr+")/test", "CREATE USER app@'%' IDENTIFIED BY 'app'")
		execute(t, "mysql", "root@tcp("+s.Addr+")/test", "GRANT ALL ON test.* TO app@'%'")
		waitsForRoom(t, "mysql://app:app@"+s.Addr+"/test", "Too many connections",
			sessionOf(t, "mysql", "app:app@tcp("+s.Addr+")/test"))
	})
}

// sessionOf returns how to take one more session of a database; nil when there is none left.
func sessionOf(t *testing.T, driver, source string) func(t *testing.T) func() error {
	t.Helper()
	db, err := sql.Open(driver, source)
	ok(t, err)
	t.Cleanup(func() { db.Close() })
	return func(*testing.T) func() error {
		conn, err := db.Conn(context.Background())
		if err != nil {
			return nil
		}
		return func() error {
			_ = conn.Close() // it goes back to the pool, which is closed next
			return db.Close()
		}
	}
}

// waitsForRoom fills a server, and makes room once a command says that it waits.
func waitsForRoom(t *testing.T, url, words string, take func(*testing.T) func() error) {
	t.Helper()
	locks := place{its: url}
	var taken []func() error
	for leave := take(t); leave != nil; leave = take(t) {
		taken = append(taken, leave)
	}
	t.Cleanup(func() {
		for _, leave := range taken {
			_ = leave() // it may have left
		}
	})
	out, err := locks.command("run", "-n", "hello", "--", "echo", "no").CombinedOutput()
	if code := err.(*exec.ExitError).ExitCode(); code != exitUnavailable || !strings.Contains(string(out), words) {
		t.Errorf("-n ended with %d, and said %s", code, out)
	}
	cmd := locks.command("run", "hello", "--", "echo", "hi")
	said, err := cmd.StderrPipe()
	ok(t, err)
	var printed strings.Builder
	cmd.Stdout = &printed
	ok(t, cmd.Start())
	hung := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	line, _ := bufio.NewReader(said).ReadString('\n')
	if !strings.Contains(line, words) || !strings.HasSuffix(line, "; waiting until it serves us\n") {
		t.Errorf("it says %q", line)
	}
	for _, leave := range taken {
		_ = leave()
	}
	taken = nil
	if err := cmd.Wait(); err != nil || printed.String() != "hi\n" {
		t.Errorf("it ended with %v, and printed %q", err, printed.String())
	}
}
