package sqltest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// nobody is a user that every system has, and that may nothing.
const nobody = 65534

// asNobody is start for a process of another user.
func asNobody(t *testing.T, part string, args ...string) *played.Process {
	t.Helper()
	return asUser(t, nobody, part, args...)
}

// asUser is start for a process of any user, in the group of nobody.
func asUser(t *testing.T, uid uint32, part string, args ...string) *played.Process {
	t.Helper()
	needRoot(t)
	return played.StartWith(t, func(cmd *exec.Cmd) {
		cmd.Path = "/proc/self/exe" // others cannot enter the folder in which the test is
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: nobody}}
	}, part, args...)
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
}

// Two users share a file: each sees what the other holds, is told when it lets go, and notices at once when it dies.
func TestUsersShare(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T) (path string){
		"all":   func(t *testing.T) string { return sharedFile(t, 0o666) },
		"group": func(t *testing.T) string { return giveGroup(t, sharedFile(t, 0o660)) },
	} {
		for _, first := range []string{"root", "nobody"} {
			t.Run(name+", first "+first, func(t *testing.T) {
				needRoot(t)
				path := prepare(t)
				if first == "root" {
					open(t, path)
				}
				holder := asNobody(t, "hold", path, "m", "mutex")
				holder.Says(t, "held")
				d, next := open(t, path), mutex("m")
				request(t, d, next, false)
				grantedAtOnce(t, d, next, func() { holder.Kill(t) })

				waiter := asNobody(t, "wait", path, "m")
				waiter.Says(t, "queued")
				if err := d.Release(t.Context(), next); err != nil {
					t.Fatal(err)
				}
				waiter.Says(t, "held")
			})
		}
	}
}

// Two users of one group share a file that is another's and open to all.
func TestUsersOfOneGroup(t *testing.T) {
	path := sharedFile(t, 0o666)
	const other = 12345
	holder := asUser(t, other, "hold", path, "m", "mutex")
	holder.Says(t, "held")
	waiter := asNobody(t, "wait", path, "m")
	waiter.Says(t, "queued")
	holder.Kill(t)
	waiter.Says(t, "held")
}

// What root does in the file of a user leaves that user able to use it.
func TestRootOpensUsersFile(t *testing.T) {
	needRoot(t)
	path := sharedFile(t, 0o600)
	for _, p := range []string{filepath.Dir(path), path} {
		if err := os.Chown(p, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, path)
	held := mutex("m")
	request(t, d, held, true)
	waiter := asNobody(t, "wait", path, "m")
	waiter.Says(t, "queued")
	if err := d.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	waiter.Says(t, "held")
}

// A folder of clients is used only where nobody who may not write the database could have made it, or can write it.
func TestFolderOfOthers(t *testing.T) {
	const others = 12345 // a user, and a group, that share nothing
	const sticky = os.ModeSticky
	for _, row := range []struct {
		name     string
		database os.FileMode
		around   os.FileMode // of the folder in which both are
		uid, gid int
		mode     os.FileMode
		refusal  string // empty for none
		why      string
	}{
		{"ours", 0o600, 0o755, 0, 0, 0o700, "", "we made it"},
		{"ours, with more rights", 0o644, 0o755, 0, 0, 0o755,
			"who may not write the database", "those who may only read could take the turn"},
		{"another's", 0o600, 0o777 | sticky, others, others, 0o700,
			"belongs to another user (12345)", "it was planted"},
		{"another's, open", 0o600, 0o777 | sticky, others, others, 0o777 | sticky,
			"who may not write the database", "planted"},
		{"another's beside a shared one", 0o660, 0o777 | sticky, others, nobody, 0o770 | sticky,
			"belongs to another user", "whoever may write around it may have made it"},
		{"a sharer's", 0o660, 0o770, others, nobody, 0o770 | sticky, "", "only sharers may write around it"},
		{"a sharer's, not sticky", 0o660, 0o770, others, nobody, 0o770,
			"chmod +t", "sharers could remove each other's files"},
		{"ours, not sticky", 0o660, 0o770, 0, nobody, 0o770, "chmod +t", "likewise"},
		{"of another group", 0o660, 0o770, 0, others, 0o770 | sticky,
			"who may not write the database", "the group is not that of the database"},
		{"open to more than the database", 0o660, 0o770, 0, nobody, 0o777 | sticky,
			"who may not write the database", "others could plant files"},
		{"anybody's", 0o666, 0o777 | sticky, others, others, 0o777 | sticky, "", "all may write the database"},
	} {
		t.Run(row.name, func(t *testing.T) {
			needRoot(t)
			path := giveGroup(t, sharedFile(t, row.database))
			chmod(t, filepath.Dir(path), row.around)
			folder := path + ".clients"
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(folder, row.uid, row.gid); err != nil {
				t.Fatal(err)
			}
			chmod(t, folder, row.mode)
			d, err := drivertest.Open(t.Context(), fileURL(path))
			if err == nil {
				d.Close()
			}
			if row.refusal == "" && err != nil || row.refusal != "" && !isRefused(err, row.refusal) {
				t.Errorf("Open: %v; want %q: %s", err, row.refusal, row.why)
			}
			if info, _ := os.Stat(folder); info.Mode()&(os.ModePerm|os.ModeSticky) != row.mode {
				t.Errorf("its mode is %v now, and was %v", info.Mode(), row.mode)
			}
		})
	}
}

// What is no folder is no place for clients, wherever it leads.
func TestPlantedFolder(t *testing.T) {
	for name, plant := range map[string]func(elsewhere, folder string) error{
		"a link":          os.Symlink,
		"a dangling link": func(elsewhere, folder string) error { return os.Symlink(elsewhere+".none", folder) },
		"a file":          func(_, folder string) error { return os.WriteFile(folder, nil, 0o600) },
		"a FIFO":          func(_, folder string) error { return syscall.Mkfifo(folder, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path, elsewhere := sharedFile(t, 0o600), t.TempDir()
			if err := plant(elsewhere, path+".clients"); err != nil {
				t.Fatal(err)
			}
			d, err := drivertest.Open(t.Context(), fileURL(path))
			if err == nil {
				d.Close()
			}
			if !isRefused(err, "is not a folder; remove it") {
				t.Errorf("Open: %v; want a refusal that says what to do", err)
			}
			if files, err := os.ReadDir(elsewhere); err != nil || len(files) > 0 {
				t.Errorf("elsewhere there are %v, %v", files, err)
			}
		})
	}
}

// A folder that was made before the database was shared is named, with what to do about it.
func TestFolderFromBeforeSharing(t *testing.T) {
	needRoot(t)
	path := sharedFile(t, 0o666)
	if err := os.Mkdir(path+".clients", 0o700); err != nil {
		t.Fatal(err)
	}
	asNobody(t, "open", path).Says(t, "refused: "+path+".clients: remove the folder while no program uses the locks")
}

func isRefused(err error, why string) bool {
	return errors.Is(err, driver.ErrRefused) && strings.Contains(err.Error(), why)
}

// giveGroup gives a database, and the folder in which it is, to the group of nobody.
func giveGroup(t *testing.T, path string) string {
	t.Helper()
	for _, p := range []string{filepath.Dir(path), path} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(p, -1, nobody); err != nil {
			t.Fatal(err)
		}
		mode := info.Mode().Perm()
		if info.IsDir() {
			mode |= os.ModeSetgid // what SQLite makes beside the file is the group's, too
		}
		chmod(t, p, mode)
	}
	return path
}
