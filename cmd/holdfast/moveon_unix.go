//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/holdfast-go/holdfast/driver"
)

// Earlier versions of this command kept the locks of a user elsewhere, where other users could take the place. The two
// must never be in use at once, also where both versions are installed. So where the earlier file would be there is a
// link to ours, which leads earlier versions to it; and an earlier file is used until nobody holds or awaits a lock
// in it.

// moveOn returns the path of the file to use, given the folder of ours.
func moveOn(folder string) (path string, err error) {
	m := move{
		file:   filepath.Join(folder, ownName),
		former: filepath.Join("/var/tmp/holdfast-"+strconv.Itoa(os.Geteuid()), ownName),
	}
	return m.settle()
}

// A move is from one file to another.
type move struct{ former, file string }

// settle returns the one file that is in use. What others do at the same time makes it look again.
func (m move) settle() (path string, err error) {
	for range 10 {
		path, err = m.step()
		if path != "" || err != nil {
			return path, err
		}
	}
	return "", fmt.Errorf("%s is changing all the time; remove it while no program uses it", m.former)
}

// step returns an empty path when it is to be repeated.
func (m move) step() (path string, err error) {
	if makePrivate(filepath.Dir(m.former)) != nil {
		return m.file, nil // earlier versions refuse the folder, too
	}
	info, err := os.Lstat(m.former)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", m.lead()
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return m.file, nil
	default:
		return m.retire()
	}
}

// lead makes the link for earlier versions. Ours is made before, because they would not make it private.
func (m move) lead() error {
	if err := m.touch(); err != nil {
		return err
	}
	if err := os.Symlink(m.file, m.former); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (m move) touch() error {
	f, err := os.OpenFile(m.file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w; make it possible to write there", err)
	}
	return f.Close()
}

// retire puts the link in the place of the earlier file, unless that is in use.
func (m move) retire() (path string, err error) {
	idle, err := m.replaceIdle()
	switch {
	case err != nil:
		return "", fmt.Errorf("look at the locks in %s: %w; remove it while no program uses it", m.former, err)
	case idle:
		return "", nil // look again
	}
	if _, err := os.Lstat(m.file); errors.Is(err, fs.ErrNotExist) {
		return m.former, nil
	}
	return "", fmt.Errorf("an earlier version of this command has locks in %s, and this one in %s; "+
		"wait until those of the earlier version are free, and upgrade it", m.former, m.file)
}

// replaceIdle replaces the earlier file unless there are claims in it. A transaction keeps others from adding some
// meanwhile, and afterwards they find that the file was replaced.
func (m move) replaceIdle() (idle bool, err error) {
	ctx := context.Background()
	if err := m.bury(ctx); err != nil {
		return false, err
	}
	db, err := sql.Open("sqlite", m.url()+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var claims int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM holdfast_claims").Scan(&claims); err != nil || claims > 0 {
		return false, err
	}
	return true, m.replace()
}

// bury ends the claims of the dead, as every client does when it comes.
func (m move) bury(ctx context.Context) error {
	d, err := driver.Open(ctx, m.url())
	if err != nil {
		return err
	}
	return d.Close()
}

func (m move) url() string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: m.former}).String()
}

// replace puts the link in the place of the earlier file, in one step.
func (m move) replace() error {
	if err := m.touch(); err != nil {
		return err
	}
	link := m.former + ".link-" + strconv.Itoa(os.Getpid())
	_ = os.Remove(link) // of one that had our number, and died before the next step; mostly there is none
	if err := os.Symlink(m.file, link); err != nil {
		return err
	}
	return os.Rename(link, m.former)
}
