//go:build linux

package descend

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

const inNamespace = "HOLDFAST_TEST_IN_NAMESPACE"

// In a namespace of IDs that has the /proc of another one, what that shows has IDs that are somebody else's here.
func TestForeignProc(t *testing.T) {
	if os.Getenv(inNamespace) != "" {
		for p := range processes {
			t.Fatalf("process %d of another namespace is taken for one of ours", p.pid)
		}
		if (Family{Parent: os.Getpid()}).Lives() {
			t.Error("the children of another process are taken for ours")
		}
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestForeignProc$")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skipf("no namespace can be made here: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A process that is not of the family when it is killed is left alone, though it was when it was looked for: its ID is
// another one's by then.
func TestOnlyTheFamilyIsKilled(t *testing.T) {
	other := exec.Command("sleep", "300")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	f := Family{Parent: os.Getpid(), Group: 1 << 30, Mark: inNamespace + "=us"}
	if f.kill(other.Process.Pid) || f.Kill() || f.Lives() {
		t.Error("a child without the mark was taken for one of the family")
	}
	marked := exec.Command("sleep", "300")
	marked.Env = append(os.Environ(), f.Mark+" and more")
	if err := marked.Start(); err != nil {
		t.Fatal(err)
	}
	if !f.Kill() {
		t.Error("a child with the mark was not found")
		_ = marked.Process.Kill()
	}
	_ = marked.Wait()
	if !readStat("/proc/" + strconv.Itoa(other.Process.Pid) + "/stat").lives {
		t.Error("a child without the mark was killed")
	}
}

// What has left the group becomes a child of who adopts it when the last of the group ends, which may be at any time.
func TestGroupEndsWhileItIsLookedAt(t *testing.T) {
	groupLives, adopted := true, false
	end := func() { groupLives, adopted = false, true }
	group := func() bool { return groupLives }
	left := func() bool {
		found := adopted
		end() // just after the look
		return found
	}
	if Over(group, left) {
		t.Error("over, while what has left the group lives")
	}
	if Over(group, left) {
		t.Error("over, and what has left the group was found")
	}
	adopted = false
	if !Over(group, func() bool { return adopted }) {
		t.Error("not over, with nothing left")
	}
}
