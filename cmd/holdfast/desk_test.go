//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A desk is where somebody sits who follows a page: a shell in a folder, and the server that the page is about.
type desk struct {
	engine engine
	url    string // the first one that the page uses, if any
	root   string // the folder that stands for /
	shell  *shell
	ports  map[string]string // of the page, and what they are here

	server   *servers.Server
	services map[string]*servers.Server // where there are several, by their names in the compose file
	service  bool                       // the server is the system's, which keeps its data
}

var exported = regexp.MustCompile(`\$ export HOLDFAST_BACKEND=(.*)`)

// newDesk makes a desk at which the programs of a page are found.
func newDesk(t *testing.T, e engine, page string) *desk {
	t.Helper()
	d := &desk{engine: e, root: t.TempDir(), ports: make(map[string]string)}
	if found := exported.FindStringSubmatch(page); found != nil {
		d.url = found[1]
	}
	for _, folder := range append(e.folders, "bin", "home/you") {
		if err := os.MkdirAll(filepath.Join(d.root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.program(t, "sudo", `[ "$1" != -u ] || shift 2
if [ "$1" = chown ]; then "$@" 2>/dev/null || true; else exec "$@"; fi`)
	d.module(t)
	d.shell = startShell(t, filepath.Join(d.root, "home/you"),
		"PATH="+filepath.Join(d.root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+filepath.Join(d.root, "home/you"), "GOWORK="+filepath.Join(d.root, "go.work"),
		"GOCACHE="+goSays(t, "GOCACHE"), "GOMODCACHE="+goSays(t, "GOMODCACHE"), "GOTOOLCHAIN=local",
		"GOFLAGS=-trimpath", // so that what was built in another folder need not be built again
		"HOLDFAST_BACKEND=", "GORACE=atexit_sleep_ms=0")
	d.shell.run(t, "unset HOLDFAST_BACKEND")
	return d
}

// module makes the folder of the reader a module that gets ours from this tree.
func (d *desk) module(t *testing.T) {
	t.Helper()
	top := filepath.Dir(goSays(t, "GOWORK"))
	work := readPage(t, filepath.Join(top, "go.work"))
	work = strings.NewReplacer("\t./", "\t"+top+"/", "=> ./", "=> "+top+"/", "\t.\n", "\t"+top+"\n").Replace(work)
	d.write(t, "../../go.work", work+"\nuse "+filepath.Join(d.root, "home/you")+"\n")
	d.write(t, "../../go.work.sum", readPage(t, filepath.Join(top, "go.work.sum")))
	d.write(t, "go.mod", "module hello\n\ngo 1.26.0\n")
}

func goSays(t *testing.T, variable string) string {
	t.Helper()
	out, err := exec.Command("go", "env", variable).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file into the folder of the reader.
func (d *desk) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.root, "home/you", name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program puts a script into the way of a program of the system.
func (d *desk) program(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(d.root, "bin", name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// read returns what the reader has written into a file of the system, line by line, without heads of sections.
func (d *desk) read(t *testing.T, name string) (lines []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(d.root, name)); err != nil {
		return nil
	}
	for line := range strings.Lines(readPage(t, filepath.Join(d.root, name))) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "[") {
			lines = append(lines, line)
		}
	}
	return lines
}

// port says what a port of the page is here.
func (d *desk) port(page, here string) { d.ports[page] = here }

// do types one command, and compares what it prints.
func (d *desk) do(t *testing.T, s exchange) {
	t.Helper()
	if d.stoodFor(t, strings.Fields(s.command)) {
		return
	}
	got := d.shown(d.shell.run(t, d.here(s.command)))
	if !printed(s.prints, got) {
		t.Errorf("$ %s\nprinted:\n%s\nand not, as the page has it:\n%s", s.command, got, s.prints)
	}
}

// stoodFor does what the test does instead of the command.
func (d *desk) stoodFor(t *testing.T, words []string) bool {
	t.Helper()
	switch command := strings.Join(words, " "); {
	case strings.HasPrefix(command, "sudo apt install "):
		d.lookForPackages(t, words[3:])
		d.engine.restart(t, d)
	case command == "docker compose up -d":
		d.compose(t)
	case strings.HasPrefix(command, "sudo systemctl "):
		if words[3] != d.engine.unit {
			t.Errorf("%s: the service is %s", command, d.engine.unit)
		}
		d.control(t, words[2])
	case strings.HasPrefix(command, "docker compose stop "):
		for _, name := range words[3:] {
			d.services[name].Stop(t)
		}
	case strings.HasPrefix(command, "docker compose start "):
		for _, name := range words[3:] {
			d.services[name].Restart(t)
		}
	default:
		return false
	}
	return true
}

func (d *desk) control(t *testing.T, verb string) {
	t.Helper()
	switch verb {
	case "restart":
		d.engine.restart(t, d)
	case "stop":
		d.server.Stop(t)
	case "start":
		d.server.Restart(t)
	default:
		t.Errorf("systemctl %s: of that this test knows nothing", verb)
	}
}

// lookForPackages looks whether packages are what our own tests install.
func (d *desk) lookForPackages(t *testing.T, packages []string) {
	t.Helper()
	installed := readPage(t, "../../scripts/servers.sh")
	for _, name := range packages {
		if !strings.Contains(installed, name) && !slices.Contains(d.engine.untried, name) {
			t.Errorf("the package %s is not one that scripts/servers.sh installs", name)
		}
	}
}

// here is a command of the page with the ports and paths of the test.
func (d *desk) here(command string) string {
	for page, here := range d.ports {
		command = strings.ReplaceAll(command, ":"+page, ":"+here)
	}
	return paths("", d.root).Replace(command)
}

// shown is what a command printed, with the ports and paths of the page.
func (d *desk) shown(output string) string {
	for page, here := range d.ports {
		output = strings.ReplaceAll(output, ":"+here, ":"+page)
	}
	return paths(d.root, "").Replace(output)
}

func paths(from, to string) *strings.Replacer {
	var pairs []string
	for _, top := range []string{"/etc/", "/var/", "/home/"} {
		pairs = append(pairs, from+top, to+top)
	}
	return strings.NewReplacer(pairs...)
}

// A shell runs one command after the other.
type shell struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startShell(t *testing.T, folder string, env ...string) *shell {
	t.Helper()
	s := &shell{process: exec.Command("sh")}
	s.process.Dir, s.process.Env = folder, append(os.Environ(), env...)
	var err error
	if s.in, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.process.Stderr = s.process.Stdout
	s.out = bufio.NewReader(out)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.in.Close()
		_ = s.process.Wait() // its last command tells nobody anything
	})
	return s
}

// hangs is for how long no command of a page takes, also where it compiles the clients of servers for the first time
// while others keep the machine busy.
const hangs = 30 * time.Minute

// run returns what a command prints. The next one finds its exit code in $?.
func (s *shell) run(t *testing.T, command string) string {
	t.Helper()
	const end = "\n\x01\n"
	hung := time.AfterFunc(hangs, func() { _ = s.process.Process.Kill() })
	defer hung.Stop()
	command = strings.TrimSpace(command)
	fmt.Fprintf(s.in, "{ %s\n} </dev/null 2>&1; code=$?; printf '\\n\\001\\n'; (exit $code)\n", command)
	var output strings.Builder
	for !strings.HasSuffix(output.String(), end) {
		line, err := s.out.ReadString('\n')
		output.WriteString(line)
		if err != nil {
			t.Fatalf("%s: the shell ended: %v; it printed:\n%s", command, err, output.String())
		}
	}
	return strings.TrimSuffix(output.String(), end)
}
