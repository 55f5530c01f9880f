//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// ownFolder is in a place that outlives a restart of the machine and does not depend on the environment.
func ownFolder() (string, error) { return "/var/tmp/holdfast-" + strconv.Itoa(os.Geteuid()), nil }

func checkPrivate(folder string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user; have it removed", folder)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o); chmod 700 it after a look at what is in it", folder, info.Mode().Perm())
	}
	return nil
}
