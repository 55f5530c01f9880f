package sqlite

import "path/filepath"

// ofSystem turns the path of a URL into a path of the system: /C:/locks.db is C:\locks.db.
func ofSystem(path string) string {
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}
