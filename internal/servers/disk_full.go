package servers

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// SmallDisk returns a folder with a disk of its own, of so many megabytes in memory, until the test ends. It needs the
// rights of root.
func SmallDisk(t testing.TB, megabytes int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", megabytes), "holdfast", folder)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Fatalf("mount a disk: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", folder).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return folder
}

// filling leaves no room on the disk that has the folder $0, says so, and makes room again when its input ends. Through
// the descriptor it still reaches the disk of a server that has ended.
const filling = `exec 3<"$0"; disk=/proc/self/fd/3
	for size in 64M 16M 4M 1M 256K 64K 16K 4K; do
		n=0; while fallocate --length $size $disk/filler.$size.$n 2>/dev/null; do n=$((n + 1)); done
	done
	echo full; cat >/dev/null; rm $disk/filler.*`

// FillDisk leaves no room on the disk that has a folder, until makeRoom is called or the test ends.
func FillDisk(t testing.TB, folder string) (makeRoom func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", filling, folder)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = untilItSpeaks(cmd)
	}
	if err != nil {
		t.Fatalf("fill the disk of %s: %v", folder, err)
	}
	makeRoom = sync.OnceFunc(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("make room on the disk of %s: %v", folder, err)
		}
	})
	t.Cleanup(makeRoom)
	return makeRoom
}

// FillDisk leaves no room on the disk of a server that has one of its own, until makeRoom is called. If the server has
// ended by then, it runs again.
func (s *Server) FillDisk(t testing.TB) (makeRoom func()) {
	t.Helper()
	proc, empty := s.running(t), FillDisk(t, s.inside(t))
	return func() {
		empty()
		select {
		case <-proc.ended:
			s.finish()
			s.run(t)
		default:
		}
	}
}
