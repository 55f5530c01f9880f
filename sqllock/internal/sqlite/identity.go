package sqlite

import (
	"cmp"
	"path/filepath"
)

// Identity implements [driver.Identifier]: it is the path of the file, without symbolic links.
func (d *Driver) Identity() string {
	path, _ := filepath.Abs(d.database.path) // it fails where there is no working directory any more
	return "file:" + cmp.Or(path, d.database.path)
}
