package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// sqliteName is the name of the database/sql driver that opens files.
const sqliteName = "sqlite"

// Open opens file:PATH for package sql. If there is no such file, it makes one that is private to its user.
func Open(u *url.URL) (*sql.DB, error) {
	if err := driver.NewParams(u).Err(); err != nil {
		return nil, err
	}
	path, err := pathOf(u)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(sql.Drivers(), sqliteName) {
		return nil, fmt.Errorf(
			`no database/sql driver is named %q; import one, as in: import _ "modernc.org/sqlite"`, sqliteName)
	}
	if err := makeFile(path); err != nil {
		return nil, err
	}
	return sql.Open(sqliteName, "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath())
}

// pathOf returns the absolute path that a URL names.
func pathOf(u *url.URL) (string, error) {
	path := u.Path
	if u.Opaque != "" { // a relative one, which package url leaves as it is
		var err error
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", errors.New("the path has an invalid %-escape; write % as %25")
		}
	}
	switch {
	case u.Host != "" || u.User != nil:
		return "", errors.New("a file backend is on this machine, so the URL has no host; write file:/path/to/locks.db")
	case u.Fragment != "":
		return "", errors.New("the path is cut off at a #; write it as %23")
	case path == "":
		return "", errors.New("name a file, as in file:/path/to/locks.db")
	case path[0] == '~':
		return "", errors.New("a ~ stands for a home only where a shell reads it; write the path from / on, " +
			"or file:./~ for a file whose name begins so")
	}
	if runtime.GOOS == "windows" && len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // /C:/locks.db is C:\locks.db
	}
	return filepath.Abs(filepath.FromSlash(path))
}

// making keeps others in this process from opening a file while makeFile has it open: when a process closes a file
// it loses all POSIX locks that it has on it, including SQLite's.
var making sync.Mutex

// makeFile makes an empty file that only its user can read, unless there is one. It never opens a file that is
// there, on which SQLite may have locks in this process. It follows a link that leads nowhere yet, as SQLite would,
// which would make a file that all can read. A link that the system does not let us follow, because somebody else
// put it into a folder that all may write, is refused: SQLite reads links by itself, and would not ask.
func makeFile(path string) error {
	making.Lock()
	defer making.Unlock()
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it, as in %s", path, filepath.Join(path, "locks.db"))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for the file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s; create it first: %w", filepath.Dir(path), err)
	case err != nil:
		return fmt.Errorf("make the file: %w", err)
	}
	return f.Close()
}
