//go:build linux

package descend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
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
	if _, ok := f.hold(process{pid: other.Process.Pid, parent: f.Parent}); ok || f.Kill() || f.Lives() {
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

// One call kills who has left the group beside its parent, which is about to end, too.
func TestKillsTheWholeTree(t *testing.T) {
	parent := exec.Command("sh", "-c", "setsid sh -c 'echo $$; exec sleep 300' & wait")
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	held, err := os.FindProcess(child)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Kill()
	if !(Family{Parent: os.Getpid()}).Kill() {
		t.Error("nobody was found")
	}
	_ = parent.Wait()
	for deadline := time.Now().Add(time.Minute); readStat(fmt.Sprintf("/proc/%d/stat", child)).lives; {
		if time.Now().After(deadline) {
			t.Fatal("who has left the group lives on")
		}
		time.Sleep(time.Millisecond)
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
	adopted = false
	if Over(group, left) {
		t.Error("over, while what has left it has become ours only just now")
	}
	adopted = false
	if !Over(group, func() bool { return adopted }) {
		t.Error("not over, with nothing left")
	}
}

// A process goes on when its first thread has ended, until the last has.
func TestThreadsGoOn(t *testing.T) {
	for threads, want := range map[string]bool{"1": false, "2": true} {
		folder := filepath.Join(t.TempDir(), "123")
		stat := "123 (a b) Z 1 7 7 0 -1 4227084 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 100 0 0"
		err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "stat"), []byte(stat), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if p := readStat(filepath.Join(folder, "stat")); p.lives != want || p.pid != 123 || p.group != 7 {
			t.Errorf("with %s threads: %+v; want that it lives: %v", threads, p, want)
		}
	}
}
