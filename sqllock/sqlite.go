package sqllock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// SQLite is the dialect of SQLite 3.35 or newer.
var SQLite = &Dialect{
	traits: driver.Traits{
		Backend: "file", MinTTL: 100 * time.Millisecond, MaxTTL: 100 * 365 * 24 * time.Hour,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
	},
	statements: "sqlite",
	begin:      "BEGIN IMMEDIATE", // a transaction that began to read could not go on to write once another has written
	look:       "BEGIN",
	prepare:    prepareSQLite,
	isBusy:     isBusySQLite,
	isRefusal:  isRefusalSQLite,
}

// pragmas are set on the connection. SQLite itself is not to wait for others: that is done where the context is known.
var pragmas = []string{"busy_timeout = 0", "journal_mode = WAL", "synchronous = FULL"}

func prepareSQLite(ctx context.Context, s *session) (*place, error) {
	path, err := databaseFile(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := refuseNetwork(path); err != nil {
		return nil, err
	}
	if isReadOnly(filepath.Dir(path)) {
		return nil, fmt.Errorf("%w: %s is on a file system that is mounted read-only, and locks are written", driver.ErrRefused, path)
	}
	if err := refuseLinked(path); err != nil {
		return nil, err
	}
	for _, p := range pragmas {
		err := s.untilFree(ctx, func() error {
			_, err := s.conn.ExecContext(ctx, "PRAGMA "+p)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: PRAGMA %s: %w", path, p, err)
		}
	}
	return newPlace(path)
}

// besides are the endings of the files that SQLite keeps beside a database.
var besides = []string{"-wal", "-shm", "-journal"}

// refuseLinked refuses a database beside which somebody has planted another's file. SQLite follows no link there, but
// writes to a file that has a second name.
func refuseLinked(path string) error {
	for _, end := range besides {
		info, err := os.Lstat(path + end)
		if err == nil && !(info.Mode().IsRegular() && isSingle(info)) {
			return fmt.Errorf("%w: %s is a link, or no file; remove it while no program uses the locks", driver.ErrRefused, path+end)
		}
	}
	return nil
}

// databaseFile asks for the file of the database, as SQLite has resolved its name.
func databaseFile(ctx context.Context, s *session) (path string, err error) {
	var seq int
	var name string
	err = s.untilFree(ctx, func() error {
		return s.conn.QueryRowContext(ctx, "PRAGMA database_list").Scan(&seq, &name, &path)
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("ask for the database file: %w", err)
	case path == "":
		return "", errors.New("the database is in memory, where no other process sees it; name a file, or use mem: for locks of this process")
	}
	return path, nil
}

// Result codes of SQLite, without what extends them: https://sqlite.org/rescode.html.
const (
	codePerm     = 3
	codeBusy     = 5 // BUSY_RECOVERY and BUSY_SNAPSHOT among them
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeCantOpen = 14
	codeProtocol = 15 // too many raced for the write-ahead log
	codeAuth     = 23
	codeNotADB   = 26
)

// isBusySQLite knows the texts, too, for SQL drivers that do not tell codes.
func isBusySQLite(err error) bool {
	switch code, ok := codeOf(err); {
	case ok:
		return code == codeBusy || code == codeLocked || code == codeProtocol
	default:
		return hasText(err, "database is locked", "database table is locked", "database schema is locked", "locking protocol")
	}
}

func isRefusalSQLite(err error) bool {
	switch code, ok := codeOf(err); {
	case ok:
		return code == codePerm || code == codeReadOnly || code == codeCorrupt || code == codeCantOpen || code == codeAuth || code == codeNotADB
	default:
		return hasText(err, "readonly database", "disk image is malformed", "unable to open database file", "file is not a database")
	}
}

// codeOf returns the code of an error from an SQL driver that tells it.
func codeOf(err error) (code int, ok bool) {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0, false
	}
	return coded.Code() & 0xff, true
}

func hasText(err error, texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
