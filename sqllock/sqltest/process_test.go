package sqltest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// The test binary is also the other processes: with this variable set it plays a part and then exits.
const partVariable = "HOLDFAST_TEST_PART"

// parts are what another process can do, given its arguments. What it prints are its results.
var parts = map[string]func(args []string) error{
	"hold":   holdPart,
	"parent": parentPart,
	"hammer": hammerPart,
	"wait":   waitPart,
	"open":   openPart,
	"write":  writePart,
}

func TestMain(m *testing.M) {
	part, args, _ := strings.Cut(os.Getenv(partVariable), "\n")
	if part == "" {
		os.Exit(m.Run())
	}
	if err := parts[part](strings.Split(args, "\n")); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// A process plays a part.
type process struct {
	cmd   *exec.Cmd
	in    io.Closer // the process ends, or goes on, when it is closed
	lines *bufio.Scanner
}

func start(t testing.TB, part string, args ...string) *process {
	t.Helper()
	return startWith(t, func(*process) {}, part, args...)
}

// startWith is start for a process that is not as usual.
func startWith(t testing.TB, change func(*process), part string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	change(p)
	p.cmd.Env = append(os.Environ(), partVariable+"="+part+"\n"+strings.Join(args, "\n"))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.lines = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

// says fails unless the next line that the process prints is what it should be.
func (p *process) says(t testing.TB, want string) {
	t.Helper()
	if !p.lines.Scan() || p.lines.Text() != want {
		t.Fatalf("the process says %q, want %q", p.lines.Text(), want)
	}
}

// kill ends the process without warning.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// holdPart queues a claim and keeps it until its input ends. Its arguments are the file, the lock, the weight ("1" for
// a mutex, "reader" or "writer") and, if the claim should outlive the process, "detached".
func holdPart(args []string) error {
	d, err := driver.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	return hold(d, args)
}

func hold(d driver.Driver, args []string) error {
	kinds := map[string]func(string) driver.Claim{"mutex": mutex, "reader": reader, "writer": writer}
	c := kinds[args[2]](args[1])
	c.Detached = len(args) > 3
	st, err := d.Request(context.Background(), c)
	if err != nil {
		return err
	}
	fmt.Println(map[bool]string{true: "held", false: "queued"}[st.Granted])
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// parentPart is holdPart with a child that inherits what keeps the claim alive, and lives until the input that both
// share ends.
func parentPart(args []string) error {
	d, err := driver.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	child := exec.Command("cat")
	child.Stdin, child.ExtraFiles = os.Stdin, driver.Inherit(d)
	if err := child.Start(); err != nil {
		return err
	}
	return hold(d, args)
}

// waitPart queues a claim, waits for its grant, and keeps it until its input ends. Its arguments are
// the file and the lock.
func waitPart(args []string) error {
	d, err := driver.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	c := mutex(args[1])
	if _, err := d.Request(context.Background(), c); err != nil {
		return err
	}
	fmt.Println("queued")
	if _, err := await(d, c); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// openPart tells whether a file is refused, and of the reason what it is about and what to do.
func openPart(args []string) error {
	d, err := driver.Open(context.Background(), fileURL(args[0]))
	if err == nil {
		return d.Close()
	}
	advice := "remove the folder while no program uses the locks"
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), args[0]+".clients:") ||
		!strings.Contains(err.Error(), advice) {
		return err
	}
	fmt.Println("refused: " + args[0] + ".clients: " + advice)
	return nil
}

// writePart is in the middle of a write, as a client is, until its input ends. Its argument is the file.
func writePart(args []string) error {
	turn, err := os.Open(args[0] + ".clients")
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", args[0])
	if err != nil {
		return err
	}
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("writes")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
