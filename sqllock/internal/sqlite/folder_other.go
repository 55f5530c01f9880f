//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import "io/fs"

// A folder is where clients keep their files: here they have none.
type folder struct{}

func openFolder(string, fs.FileInfo) (*folder, error) { return &folder{}, nil }

func (*folder) close() error { return nil }

func isSingle(fs.FileInfo) bool { return true }

// isReadOnly is not known.
func isReadOnly(string) bool { return false }
