package proof

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// What holds up everybody is counted once, and what holds up one visitor is not counted.
func TestStoodStill(t *testing.T) {
	r := Record{Stalls: []Stall{
		{nobody, Span{3 * sec, 5 * sec}}, {nobody, Span{1 * sec, 2 * sec}}, {nobody, Span{4 * sec, 6 * sec}},
		{nobody, Span{4 * sec, 5 * sec}}, {2, Span{6 * sec, 9 * sec}},
	}}
	if got, want := r.StoodStill(), 4*sec; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A visitor who is stopped while it writes holds up everybody, and one who is stopped otherwise does not.
func TestStoppedWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("this system does not tell who has locked what")
	}
	for _, c := range []struct {
		what   string
		writes string // the file that the visitor has locked
		want   int
	}{
		{"it writes", path, 1},
		{"it does something else", path + "2", 0},
	} {
		cmd := exec.Command("flock", c.writes, "sh", "-c", "echo; cat")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		in, err := cmd.StdinPipe() // cat ends with it
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		crowd := &crowd{t: t, files: []string{path}, record: &Record{}}
		crowd.stop(&member{cmd: cmd})()
		if got := crowd.record.Stalls; len(got) != c.want {
			t.Errorf("%s: stalls %v, want %d", c.what, got, c.want)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
