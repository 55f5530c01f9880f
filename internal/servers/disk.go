package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// diskSize is enough for the data of a test, also of one that takes ten thousand locks. The image has no more than was
// written to it.
const diskSize = 1 << 30

// onDisk returns the kind of server that runs as this one does, with a file system of its own for its folder "data",
// which nobody else sees. It needs the rights of root.
func onDisk(t testing.TB, k kind) kind {
	t.Helper()
	for _, program := range []string{"mkfs.ext4", "fsfreeze", "unshare"} {
		_, err := exec.LookPath(program)
		Require(t, err == nil, program, "apt-get install e2fsprogs util-linux")
	}
	program, args, prepare := k.program, k.args, k.prepare
	k.program = "unshare"
	k.args = func(s *Server) []string {
		mount := []string{"--mount", "sh", "-c", `mount -o loop "$1" "$2" && shift 2 && exec "$@"`, "sh", s.image(),
			s.disk(), program}
		return append(mount, args(s)...)
	}
	k.prepare = func(s *Server) [][]string {
		lines := [][]string{
			{"truncate", "--size", fmt.Sprint(diskSize), s.image()},
			{"mkfs.ext4", "-q", "-O", "^has_journal", s.image()},
			{"mkdir", "-p", s.disk()},
		}
		if prepare != nil {
			lines = append(lines, prepare(s)...)
		}
		return lines
	}
	return k
}

func (s *Server) image() string { return s.Dir + ".disk" }
func (s *Server) disk() string  { return filepath.Join(s.Dir, "data") }

// inside is where this process finds the disk of a server that runs and has one of its own.
func (s *Server) inside(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("/proc/%d/root%s", s.running(t).pid, s.disk())
}

// StallDisk lets the disk of a server that has one of its own do nothing for so long: whatever is written waits. It
// returns when the disk stands still; whatever becomes of the test, it goes on after that time.
func (s *Server) StallDisk(t testing.TB, d time.Duration) {
	t.Helper()
	// The descriptor keeps the file system where it can be thawed, also when server and test are gone by then.
	cmd := exec.Command("setsid", "sh", "-c", `exec 3<"$0"; disk=/proc/self/fd/3
		fsfreeze --freeze "$disk" && echo stalled && sleep "$1"; fsfreeze --unfreeze "$disk"`, s.inside(t),
		fmt.Sprint(d.Seconds()))
	cmd.Stderr = os.Stderr
	if err := untilItSpeaks(cmd); err != nil {
		t.Fatalf("stall the disk of %s: %v", s.kind.name, err)
	}
	t.Cleanup(func() { cmd.Wait() })
}

// untilItSpeaks starts a command and returns when it has printed something.
func untilItSpeaks(cmd *exec.Cmd) error {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1))
	}
	return err
}
