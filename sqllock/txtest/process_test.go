package txtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The test binary is also the other processes: with this variable set it plays a part, with a database, and exits.
const partVariable = "HOLDFAST_TEST_PART"

// parts are what another process can do. It says a line when it is ready, and awaits its cue.
var parts = map[string]func(database) error{
	"shop":   shop,
	"holder": writeLate,
}

func TestMain(m *testing.M) {
	part := strings.Split(os.Getenv(partVariable), "\n")
	if part[0] == "" {
		os.Exit(m.Run())
	}
	if err := parts[part[0]](database{part[1], part[2], part[3]}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// awaitCue says that a part is ready, and returns when it may go on.
func awaitCue() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// A process plays a part.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	said *bufio.Reader
}

// start starts a process and waits until it is ready.
func start(t *testing.T, part string, d database) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.cmd.Env = append(os.Environ(), partVariable+"="+strings.Join([]string{part, d.driver, d.dsn, d.addr}, "\n"))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.said = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill() // which ends one that is stopped, too
		p.cmd.Wait()
	})
	if line, err := p.said.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return p
}

func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// cue lets the part go on.
func (p *process) cue() { p.in.Close() }

// ends waits until the process has ended, as it should.
func (p *process) ends(t *testing.T) {
	t.Helper()
	complaint, _ := io.ReadAll(p.said)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the process failed: %v: %s", err, complaint)
	}
}
