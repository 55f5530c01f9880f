package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var traits = driver.Traits{
	Backend: "file", MinTTL: 100 * time.Millisecond, MaxTTL: driver.LongestDuration,
	Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
	Ops:   inTables | driver.KindsOf(driver.OpWatch),
	Alone: 1, MaxInFlight: 1, // the file has one writer at a time
}

// logged is the journal_mode of a database with a write-ahead log. SQLite has another one where it can share no
// memory.
const logged = "wal"

// prepare makes a connection ready. What must not be used is refused before the first pragma, because that writes to
// the file.
func prepare(ctx context.Context, c *connection, boot string) (*database, error) {
	path, err := databaseFile(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, refuse := range []func(string) error{refuseNetwork, refuseSecondName, refuseLinked} {
		if err := refuse(path); err != nil {
			return nil, err
		}
	}
	if err := c.setPragmas(ctx, boot); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return openDatabase(path)
}

// setPragmas sets how SQLite works. It does not wait for others itself: untilFree does, which knows the context.
//
// SQLite may leave commits to the system unless there is no write-ahead log, without which a power failure could
// damage the file, or nobody knows one boot from the next, so that nothing would be forgotten after it.
func (c *connection) setPragmas(ctx context.Context, boot string) error {
	if _, err := c.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return fmt.Errorf("PRAGMA busy_timeout: %w", err)
	}
	var journal string
	err := c.untilFree(ctx, func() error {
		return c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&journal)
	})
	if err != nil {
		return fmt.Errorf("PRAGMA journal_mode: %w", err)
	}
	c.mayLag = journal == logged && boot != ""
	return nil
}

// refuseSecondName refuses a database that has another name, of which those who use it by that one would know
// nothing: SQLite keeps its log, and we keep the clients, beside each name.
func refuseSecondName(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !isSingle(info) {
		return fmt.Errorf("%w: %s has a second name (a hard link), and its locks would be others by each;"+
			" remove one while no program uses the locks, or make it a symbolic link", driver.ErrRefused, path)
	}
	mounted, err := isMounted(path)
	if err != nil {
		return fmt.Errorf("find out whether %s is mounted by itself: %w", path, err)
	}
	if mounted {
		return fmt.Errorf("%w: %s is mounted by itself, and its locks would be others than those of the file where it "+
			"is from; mount the folder that it is in", driver.ErrRefused, path)
	}
	return nil
}

// sideFiles are the suffixes of the files that SQLite keeps beside a database.
var sideFiles = []string{"-wal", "-shm", "-journal"}

// refuseLinked refuses a database beside which somebody has planted a file of another user. SQLite does not follow a
// symbolic link there, but it writes to a file that is a hard link.
func refuseLinked(path string) error {
	for _, end := range sideFiles {
		info, err := os.Lstat(path + end)
		if err == nil && !(info.Mode().IsRegular() && isSingle(info)) {
			return fmt.Errorf("%w: %s is a link, or not a file; remove it while no program uses the locks",
				driver.ErrRefused, path+end)
		}
	}
	return nil
}

// databaseFile asks SQLite for the path of the database, as it has resolved the name.
func databaseFile(ctx context.Context, c *connection) (path string, err error) {
	var seq int
	var name string
	err = c.untilFree(ctx, func() error {
		return c.QueryRowContext(ctx, "PRAGMA database_list").Scan(&seq, &name, &path)
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("ask for the database file: %w", err)
	case path == "":
		return "", errors.New("the database is in memory, where no other process sees it; name a file," +
			" or use mem: for locks of this process")
	}
	return path, nil
}
