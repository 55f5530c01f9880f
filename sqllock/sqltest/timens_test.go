//go:build linux

package sqltest

import (
	"os/exec"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
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

// A system with clocks of its own is refused while a client of another one lives. Then it is taken for the next
// boot: what that client held is free, and what was left alone is held.
func TestOtherTimeNamespace(t *testing.T) {
	inOther, path := inOtherTime(t), newFile(t)
	d, err := drivertest.Open(t.Context(), fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	left := mutex("left alone")
	left.Detached = true
	request(t, d, mutex("m"), true)
	request(t, d, left, true)
	played.StartWith(t, inOther, "refuse", path).Says(t, "refused")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	holder := played.StartWith(t, inOther, "hold", path, "m", "mutex")
	holder.Says(t, "held")
	holder.Cue()
	holder.Wait()
	played.StartWith(t, inOther, "hold", path, "left alone", "mutex").Says(t, "queued")
}
