package zklock_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/zklock"
)

// A program is a kind of client. It is given a server, the path of a lock, what to do, the folder of a hall and a name
// for its process; it says "ready", waits for a line, and goes on until its input ends.
type program struct {
	name    string
	command func(t *testing.T) *exec.Cmd
}

var (
	kazoo         = program{"kazoo", pythonPeer}
	zkLock        = program{"zk.Lock", goPeer("zk.Lock")}
	oursAsCurator = program{"ours", goPeer(string(zklock.Curator))}
	oursAsKazoo   = program{"ours", goPeer(string(zklock.Kazoo))}
)

// jars are what Curator needs.
var jars = []string{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-nop"}

func classPath(more ...string) string {
	for _, jar := range jars {
		more = append(more, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(more, string(os.PathListSeparator))
}

const installCurator = "default-jdk-headless libcurator-recipes-java libcurator-framework-java libcurator-client-java"

// curator is Curator's program, compiled at most once, for as long as a test and its parts run.
func curator(whole *testing.T) program {
	classes := sync.OnceValue(func() string {
		dir := whole.TempDir()
		out, err := exec.Command("javac", "-d", dir, "-cp", classPath(), "testdata/Peer.java").CombinedOutput()
		if err != nil {
			whole.Errorf("javac: %v\n%s", err, out)
		}
		return dir
	})
	return program{"Curator", func(t *testing.T) *exec.Cmd {
		needCurator(t)
		return exec.Command("java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath(classes()), "Peer")
	}}
}

func needCurator(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		missing(t, "javac", installCurator)
	}
	for jar := range strings.SplitSeq(classPath(), string(os.PathListSeparator)) {
		if _, err := os.Stat(jar); err != nil {
			missing(t, jar, installCurator)
		}
	}
}

// pythonPeer uses the system's Python, since Debian's kazoo is not for another.
func pythonPeer(t *testing.T) *exec.Cmd {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import kazoo").Run(); err != nil {
		missing(t, "kazoo for "+python, "python3-kazoo")
	}
	return exec.Command(python, "-B", filepath.Join("testdata", "peer.py"))
}

// missing skips the test, or fails it where nothing may be skipped.
func missing(t *testing.T, what, packages string) {
	t.Helper()
	reason := fmt.Sprintf("%s is not installed; install it with: apt-get install -y --no-install-recommends %s (or: make servers)", what, packages)
	if os.Getenv("HOLDFAST_NO_SKIP") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// peerVariable makes a process of the tests a peer of this kind.
const peerVariable = "HOLDFAST_TEST_PEER"

// goPeer is this program once more.
func goPeer(kind string) func(*testing.T) *exec.Cmd {
	return func(t *testing.T) *exec.Cmd {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.run=^TestPeer$")
		cmd.Env = append(os.Environ(), peerVariable+"="+kind)
		return cmd
	}
}

// TestPeer is a process that the tests of others start.
func TestPeer(t *testing.T) {
	kind := os.Getenv(peerVariable)
	if kind == "" {
		t.Skip("it is for processes that other tests start")
	}
	server, path, what := flag.Arg(0), flag.Arg(1), flag.Arg(2)
	write, read := oursIn(t, zklock.Layout(kind), server, path)
	if kind == zkLock.name {
		write = theirs(t, server, path)
	}
	if what == "visit" {
		read = write
	}
	input := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	input.ReadString('\n')
	visitUntil(t, inputEnds(input), hall{flag.Arg(3), flag.Arg(4)}, write, read)
}

// A section calls f under a lock.
type section func(f func()) error

// oursIn returns the sections of a writer and of a reader; of an exclusive lock where that is what there is.
func oursIn(t *testing.T, layout zklock.Layout, server, path string) (write, read section) {
	if layout != zklock.Curator && layout != zklock.Kazoo {
		return nil, nil
	}
	c := holdfast.New(open(t, &zklock.Options{Layout: layout}, server))
	t.Cleanup(func() { c.Close(context.Background()) })
	name := strings.TrimPrefix(path, "/")
	if flag.Arg(2) == "visit" {
		return do(c.Mutex(name, holdfast.WithLocalHandoff(0)).Do), nil
	}
	m := c.RWMutex(name, holdfast.WithLocalHandoff(0))
	return do(m.Do), do(m.RDo)
}

func do(under func(context.Context, func(context.Context, *holdfast.Lease) error) error) section {
	return func(f func()) error {
		return under(context.Background(), func(context.Context, *holdfast.Lease) error { f(); return nil })
	}
}

// theirs is the section of go-zookeeper's own lock.
func theirs(t *testing.T, server, path string) section {
	conn := raw(t, server)
	return func(f func()) error {
		l := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
		if err := l.Lock(); err != nil {
			return err
		}
		f()
		return l.Unlock()
	}
}

func inputEnds(input io.Reader) <-chan struct{} {
	over := make(chan struct{})
	go func() { // ends with the input
		io.Copy(io.Discard, input)
		close(over)
	}()
	return over
}

// visitUntil enters the hall again and again: every third time as a writer.
func visitUntil(t *testing.T, over <-chan struct{}, r hall, write, read section) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		default:
		}
		under, writes := read, i%3 == 0
		if writes || read == nil {
			under, writes = write, true
		}
		var said string
		var visitErr error
		err := under(func() { said, visitErr = r.visit(writes) })
		if err != nil || visitErr != nil {
			t.Fatal(err, visitErr)
		}
		fmt.Println(said)
	}
}

// A peer is a process of a program.
type peer struct {
	t          *testing.T
	name       string
	input      io.WriteCloser
	said       *lines
	complaints bytes.Buffer
	ended      chan struct{} // closed when it has
	err        error         // how it ended
}

// start starts a process that is to do something, and returns when it is ready. It ends with the test.
func (p program) start(t *testing.T, name, server, path, what, folder string) *peer {
	t.Helper()
	peer := p.launch(t, name, server, path, what, folder)
	peer.expect("ready")
	return peer
}

// launch is start that does not wait.
func (p program) launch(t *testing.T, name, server, path, what, folder string) *peer {
	t.Helper()
	cmd := p.command(t)
	cmd.Args = append(cmd.Args, server, path, what, folder, name)
	peer := &peer{t: t, name: name, said: &lines{more: make(chan struct{}, 1)}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = peer.said, &peer.complaints
	var err error
	if peer.input, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		peer.err = cmd.Wait()
		close(peer.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-peer.ended
	})
	return peer
}

// tell sends it a line.
func (p *peer) tell() {
	p.t.Helper()
	if _, err := io.WriteString(p.input, "\n"); err != nil {
		p.t.Errorf("%s: %v", p.name, err)
	}
}

// expect waits until it says this next.
func (p *peer) expect(want string) {
	p.t.Helper()
	got, ok := p.said.take()
	for late := limit(p.t).Done(); !ok; got, ok = p.said.take() {
		select {
		case <-p.said.more:
		case <-p.ended:
			p.t.Fatalf("%s has ended, where it should say %q: %v\n%s", p.name, want, p.err, &p.complaints)
		case <-late:
			p.t.Fatalf("%s does not say %q", p.name, want)
		}
	}
	if got != want {
		p.t.Fatalf("%s says %q, want %q", p.name, got, want)
	}
}

// finish waits for its end, which must be a good one, and returns what it has said that was not expected.
func (p *peer) finish() (said []string) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-limit(p.t).Done():
		p.t.Fatalf("%s goes on, having been told to stop", p.name)
	}
	if p.err != nil {
		p.t.Errorf("%s: %v\n%s", p.name, p.err, &p.complaints)
	}
	return p.said.rest()
}

// lines keep what is written until it is taken, line by line.
type lines struct {
	more chan struct{} // has room for one, sent when there is more

	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default: // it is about to be taken anyway
	}
	return l.text.Write(b)
}

// count returns how many lines were not taken yet.
func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.text.Bytes(), []byte("\n"))
}

// take takes a line, if there is a whole one.
func (l *lines) take() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := bytes.IndexByte(l.text.Bytes(), '\n')
	if end < 0 {
		return "", false
	}
	return strings.TrimSpace(string(l.text.Next(end + 1))), true
}

// rest takes all lines.
func (l *lines) rest() (all []string) {
	for line, ok := l.take(); ok; line, ok = l.take() {
		all = append(all, line)
	}
	return all
}
