package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// sqliteDriver is the name under which a program imports a database/sql driver for SQLite.
const sqliteDriver = "sqlite"

func init() { driver.Register("file", open) }

// open opens file:PATH.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	if err := driver.NewParams(u).Err(); err != nil {
		return nil, err
	}
	path, err := pathOf(u)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(sql.Drivers(), sqliteDriver) {
		return nil, errors.New(`no database/sql driver is named "sqlite"; import one, such as _ "modernc.org/sqlite"`)
	}
	db, err := sql.Open(sqliteDriver, "file:"+(&url.URL{Path: path}).EscapedPath())
	if err != nil {
		return nil, err
	}
	d, err := New(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d.owned = true
	return d, nil
}

// pathOf returns the absolute path that a URL names, in a folder that exists.
func pathOf(u *url.URL) (string, error) {
	path := u.Path
	if u.Opaque != "" {
		var err error
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", errors.New("the path has an invalid %-escape; write % as %25")
		}
	}
	if path == "" || u.Host != "" || u.User != nil {
		return "", errors.New("write file:/path/to/locks.db, or file:locks.db for this folder")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("there is no folder %s; make it first", filepath.Dir(abs))
	}
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder; name a file in it, such as %s", abs, filepath.Join(abs, "locks.db"))
	}
	return abs, nil
}
