//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// newMove is a move between folders of the test.
func newMove(t *testing.T) move {
	t.Helper()
	folder := t.TempDir()
	m := move{former: filepath.Join(folder, "former", ownName), file: filepath.Join(folder, "own", ownName)}
	ok(t, makePrivate(filepath.Dir(m.file)))
	return m
}

// earlier opens the file as an earlier version of this command does.
func earlier(t *testing.T, m move) *holdfast.Client {
	t.Helper()
	ok(t, makePrivate(filepath.Dir(m.former)))
	return opened(t, m.former)
}

func opened(t *testing.T, path string) *holdfast.Client {
	t.Helper()
	d, err := driver.Open(t.Context(), "file:"+path)
	ok(t, err)
	c := holdfast.New(d)
	t.Cleanup(func() {
		_ = c.Close(context.Background())
		_ = d.Close()
	})
	return c
}

// uses fails unless the move settles on a file.
func (m move) uses(t *testing.T, want string) {
	t.Helper()
	if path, err := m.settle(); err != nil || path != want {
		t.Fatalf("settle() = %q, %v; want %q", path, err, want)
	}
}

// excludes fails unless a lock that one client holds is taken for another.
func excludes(t *testing.T, one, other *holdfast.Client) {
	t.Helper()
	lease, err := one.Mutex("both").TryLock(t.Context())
	ok(t, err)
	if _, err := other.Mutex("both").TryLock(t.Context()); err == nil {
		t.Error("two hold one lock, in two files")
	}
	ok(t, lease.Release(t.Context()))
}

// Where no version was before, later runs of an earlier version meet ours.
func TestEarlierVersionAfterOurs(t *testing.T) {
	m := newMove(t)
	m.uses(t, m.file)
	excludes(t, opened(t, m.file), earlier(t, m))
	m.uses(t, m.file)
}

// An earlier file is used as long as somebody holds or awaits a lock in it, and then never again, by no version.
func TestOursAfterEarlierVersion(t *testing.T) {
	m := newMove(t)
	old := earlier(t, m)
	lease, err := old.Mutex("m").Lock(t.Context())
	ok(t, err)
	m.uses(t, m.former)
	m.uses(t, m.former)
	ok(t, lease.Release(t.Context()))
	m.uses(t, m.file)
	if _, err := old.Mutex("m").TryLock(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "was removed or replaced") {
		t.Errorf("who still has the earlier file open gets %v; want a refusal", err)
	}
	excludes(t, opened(t, m.file), earlier(t, m))
}

// A process that had our number may have died between the two steps of the replacement.
func TestLinkOfTheDead(t *testing.T) {
	m := newMove(t)
	old := earlier(t, m)
	lease, err := old.Mutex("m").Lock(t.Context())
	ok(t, err)
	ok(t, lease.Release(t.Context()))
	ok(t, os.Symlink(m.file, m.former+".link-"+strconv.Itoa(os.Getpid())))
	m.uses(t, m.file)
}

// Where an earlier version made its file although ours is there, as after the link was removed, nothing is locked in
// both.
func TestTwoFiles(t *testing.T) {
	m := newMove(t)
	m.uses(t, m.file)
	ok(t, os.Remove(m.former))
	lease, err := earlier(t, m).Mutex("m").Lock(t.Context())
	ok(t, err)
	if path, err := m.settle(); err == nil || !strings.Contains(err.Error(), "upgrade it") {
		t.Errorf("settle() = %q, %v; want a refusal that says what to do", path, err)
	}
	ok(t, lease.Release(t.Context()))
	m.uses(t, m.file)
}

// Whatever others put in the place of the earlier file leads nowhere: no version uses it.
func TestFormerPlaceIsTaken(t *testing.T) {
	for name, take := range map[string]func(*testing.T, string){
		"another's": giveAway, "open to all": mkdir(0o777), "a file": touch, "a link": link,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMove(t)
			take(t, filepath.Dir(m.former))
			m.uses(t, m.file)
		})
	}
}

// On a machine on which another user has taken the place of the earlier file, commands run; and one that sees another
// file under the path than the rest of the machine says so.
func TestDefaultFileOnAMachine(t *testing.T) {
	out, err := onMachine(t, `install -d -m 700 -o nobody /var/tmp/holdfast-0
holdfast run hello -- echo hi
test -f /var/lib/holdfast/locks.db
test -z "$(ls -A /var/tmp/holdfast-0)"`)
	if err != nil || !strings.Contains(out, "hi\n") || !strings.Contains(out, "is on a private mount") {
		t.Errorf("%v, %q; want the command's output, and a warning", err, out)
	}
}

// The command alone shows where the default file would be, and completing a name looks into it: neither makes it.
func TestStartMakesNothing(t *testing.T) {
	out, err := onMachine(t, `holdfast
holdfast __complete show ''
test -z "$(ls -A /var/lib /var/tmp | grep holdfast)"`)
	if err != nil || !strings.Contains(out, "/var/lib/holdfast/locks.db") {
		t.Errorf("%v, %q; want the default file's path, and no such file", err, out)
	}
}

// On a terminal run says how far its lock reaches when nobody has named a backend: once, and not within another run,
// not to programs, and not where the same file was named.
func TestRunTellsItsReach(t *testing.T) {
	const said = "only programs of this user on this machine share"
	for _, row := range []struct {
		name, script string
		times        int
	}{
		{"on a terminal", "onterminal /dev/null screen holdfast run job -- echo ran", 1},
		{"elect, too", "onterminal /dev/null screen holdfast elect job -- echo ran", 1},
		{"one within another", "onterminal /dev/null screen holdfast run a -- holdfast run b -- echo ran", 1},
		{"without a terminal", "holdfast run job -- echo ran >screen 2>&1", 0},
		{"as JSON", "onterminal /dev/null screen holdfast --json run job -- echo ran", 0},
		{"the file was named", "export HOLDFAST_BACKEND=file:here.db\n" +
			"onterminal /dev/null screen holdfast run job -- echo ran", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := onMachine(t, row.script+"\ncat screen")
			if err != nil || !strings.Contains(out, "ran") || strings.Count(out, said) != row.times {
				t.Errorf("%v, %q; want the command's output, and %q %d times", err, out, said, row.times)
			}
		})
	}
}

// onMachine runs a script where the default file has never been: its folders are those of a mount namespace of its own.
func onMachine(t *testing.T, script string) (out string, err error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	const fresh = "set -e\nunset HOLDFAST_BACKEND\nmount -t tmpfs none /var/tmp\nmount -t tmpfs none /var/lib\n"
	cmd := exec.Command("unshare", "-m", "sh", "-c", fresh+script)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput()
	return string(text), err
}
