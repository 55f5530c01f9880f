package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// ownFile returns the URL of the backend that is used when none is named: a file in a folder of this user, the same for
// cron, a login and a service. caution is what the user should know about it, if anything.
func ownFile() (rawURL string, caution, err error) {
	folder, err := ownFolder()
	if err != nil {
		return "", nil, noOwnFile(err)
	}
	makeAround(folder)
	if err := makePrivate(folder); err != nil {
		return "", nil, noOwnFile(err)
	}
	return fileURL(filepath.Join(folder, ownName)), hidden(folder), nil
}

// ownURL is the URL of that file, whether it is there or not.
func ownURL() (string, error) {
	folder, err := ownFolder()
	if err != nil {
		return "", noOwnFile(err)
	}
	return fileURL(filepath.Join(folder, ownName)), nil
}

func fileURL(path string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return u.String()
}

// ownName is the name of the file in its folder.
const ownName = "locks.db"

func noOwnFile(err error) error {
	return unavailable(fmt.Errorf("default backend: %w, or name another backend with --backend or %s", err, backendEnv))
}

// makePrivate makes a folder that only this user can use, or checks that it is one. Others could make it first, to read
// or replace what is in it.
func makePrivate(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the folder of this user's locks: %w; make it possible to create it", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("%w; make it readable", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder; remove it", folder)
	}
	return checkPrivate(folder, info)
}
