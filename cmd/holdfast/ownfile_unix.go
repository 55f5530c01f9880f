//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// ownFolder is in a place that outlives a restart of the machine, that nobody else can take, and that does not depend
// on the environment.
func ownFolder() (string, error) {
	if os.Geteuid() == 0 {
		return rootFolder(), nil
	}
	return homeFolder(os.Geteuid())
}

// makeAround makes what is around the folder in a home folder. Where it cannot, who makes the folder tells what is
// wrong.
func makeAround(folder string) {
	if os.Geteuid() != 0 {
		_ = os.MkdirAll(filepath.Dir(folder), 0o700)
	}
}

// rootFolder is where the system keeps what its services remember.
func rootFolder() string {
	if runtime.GOOS == "linux" {
		return "/var/lib/holdfast"
	}
	return "/var/db/holdfast"
}

// homeFolder is in the home folder that the user database names: HOME may be anything, such as that of who called sudo.
func homeFolder(uid int) (string, error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	switch {
	case err != nil:
		return "", fmt.Errorf("the user database does not say where the home folder of user %d is (%w); add the "+
			"user", uid, err)
	case !filepath.IsAbs(u.HomeDir) || filepath.Clean(u.HomeDir) == "/":
		return "", fmt.Errorf("user %d has no home folder of its own in the user database (%q); give it one", uid,
			u.HomeDir)
	}
	return filepath.Join(u.HomeDir, ".local", "state", "holdfast"), nil
}

func checkPrivate(folder string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user; have it removed", folder)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o); chmod 700 it after a look at what is in it", folder,
			info.Mode().Perm())
	}
	return nil
}
