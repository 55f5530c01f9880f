package servers

import (
	"os"
	"path/filepath"
)

// inPlace is the variable under which MySQL 9 is started in place of MariaDB, Valkey 8 in place of Redis, and a newer
// PgBouncer.
const inPlace = "HOLDFAST_EXTRA"

// installExtra installs what is started then.
const installExtra = "make servers-extra"

func extraWanted() bool { return os.Getenv(inPlace) != "" }

// extra is where scripts/servers-extra.sh puts a program.
func extra(name, program string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return program // which is looked for on the PATH
	}
	return filepath.Join(cache, "holdfast", "extra", name, program)
}
