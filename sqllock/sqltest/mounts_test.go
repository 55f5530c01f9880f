//go:build linux

package sqltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// inMounts has a process run where a shell command with these arguments has mounted something, which nobody else sees.
func inMounts(t *testing.T, command string, args ...string) func(*exec.Cmd) {
	t.Helper()
	needRoot(t)
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	around := func(program string) []string {
		return append([]string{unshare, "--mount", "sh", "-ec", command + `; exec "$0"`, program}, args...)
	}
	if out, err := exec.Command(unshare, around("true")[1:]...).CombinedOutput(); err != nil {
		t.Skipf("that cannot be mounted here: %s", out)
	}
	return func(cmd *exec.Cmd) { cmd.Args, cmd.Path = around(cmd.Path), unshare }
}

// A link that the system does not follow, such as one of somebody else in a folder that all may write, is not followed
// by SQLite either, which reads links by itself.
func TestLinkThatIsNotFollowed(t *testing.T) {
	folder, other := t.TempDir(), filepath.Join(t.TempDir(), "other.db")
	link := filepath.Join(folder, "locks.db")
	linked := inMounts(t, `mount -t tmpfs -o nosymfollow none "$1"; ln -s "$2" "$3"`, folder, other, link)
	refusal := fmt.Sprintf("error: open %s: look for the file: stat %s: %v", fileURL(link), link, syscall.ELOOP)
	for _, name := range []string{"free", "taken"} {
		if name == "taken" {
			change(t, other, "CREATE TABLE other (x)")
		}
		played.StartWith(t, linked, "hold", link, "m", "mutex").Says(t, refusal)
		if made, err := filepath.Glob(other + ".*"); len(made) > 0 || err != nil {
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
}

// A file that is mounted by itself, as into a container, has another log there: who uses it so is refused, and is not
// granted what is held where it is from.
func TestFileMountedByItself(t *testing.T) {
	path, place := newFile(t), filepath.Join(t.TempDir(), "my locks.db")
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	request(t, open(t, path), mutex("m"), true)
	mounted := inMounts(t, `mount --bind "$1" "$2"`, path, place)
	played.StartWith(t, mounted, "refuse", place).Says(t, "refused")

	// Its folder may be mounted.
	folder := t.TempDir()
	mounted = inMounts(t, `mount --bind "$1" "$2"`, filepath.Dir(path), folder)
	played.StartWith(t, mounted, "hold", filepath.Join(folder, filepath.Base(path)), "m", "mutex").Says(t, "queued")
}
