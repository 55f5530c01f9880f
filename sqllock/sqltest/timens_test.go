//go:build linux

package sqltest

import (
	"os/exec"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// otherwise is a time namespace in which the machine booted a day before it did, as a container may have.
var otherwise = []string{"unshare", "--time", "--boottime", "86400", "--fork", "--kill-child"}

// inOtherTime has a process run in that namespace.
func inOtherTime(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	unshare, err := exec.LookPath(otherwise[0])
	if err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command(unshare, append(otherwise[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespace can be made here: %s", out)
	}
	return func(cmd *exec.Cmd) {
		cmd.Args = append(append([]string{}, otherwise...), cmd.Path)
		cmd.Path = unshare
	}
}

// Who lives in another time namespace of the same boot takes nothing that is held for free.
func TestHeldBesideOtherTime(t *testing.T) {
	inOther, path := inOtherTime(t), newFile(t)
	request(t, open(t, path), mutex("m"), true)
	played.StartWith(t, inOther, "hold", path, "m", "mutex").Says(t, "queued")
}

// What is held there is held here, and free when its time is over, though its client left it alone.
func TestHeldInOtherTime(t *testing.T) {
	inOther, path := inOtherTime(t), newFile(t)
	played.StartWith(t, inOther, "hold", path, "m", "mutex", "detached").Says(t, "held")
	d := open(t, path)
	request(t, d, mutex("m"), false)
	queue, err := d.Queue(t.Context(), "m")
	if err != nil || len(queue) == 0 || queue[0].Left > longTTL {
		t.Errorf("the queue is %+v, %v; want a claim of which at most %v is left", queue, err, longTTL)
	}
}
