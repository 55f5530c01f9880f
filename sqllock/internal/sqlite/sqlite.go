package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var traits = driver.Traits{
	Backend: "file", MinTTL: 100 * time.Millisecond, MaxTTL: 100 * 365 * 24 * time.Hour,
	Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
}

// How transactions begin. One that began to read could not go on to write once another has written.
const (
	beginWriting = "BEGIN IMMEDIATE"
	beginReading = "BEGIN"
)

// pragmas are set on the connection. SQLite itself is not to wait for others: that is done where the context is known.
var pragmas = []string{"busy_timeout = 0", "journal_mode = WAL", "synchronous = FULL"}

// prepare makes a connection ready, and says where the clients of the database find each other.
func prepare(ctx context.Context, s *session) (*place, error) {
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
