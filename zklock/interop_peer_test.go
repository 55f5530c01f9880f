package zklock_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/interop"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/zklock"
)

var (
	kazoo         = interop.Program{Name: "kazoo", Command: pythonPeer}
	zkLock        = interop.Self("zk.Lock", "zk.Lock")
	oursAsCurator = interop.Self("ours", string(zklock.Curator))
	oursAsKazoo   = interop.Self("ours", string(zklock.Kazoo))
)

// jars are what Curator needs.
var jars = []string{
	"curator-recipes", "curator-framework", "curator-client",
	"zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-nop",
}

func classPath(more ...string) string {
	for _, jar := range jars {
		more = append(more, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(more, string(os.PathListSeparator))
}

const installCurator = "default-jdk-headless libcurator-recipes-java libcurator-framework-java libcurator-client-java"

// curator is Curator's program.
var curator = interop.Program{Name: "Curator", Command: func(t *testing.T) *exec.Cmd {
	needCurator(t)
	return exec.Command("java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", classPath(compiled.classes(t)), "Peer")
}}

// compiled is what the first test that needs it compiles, for all of them.
var compiled peerProgram

type peerProgram struct {
	once sync.Once
	dir  string
	err  error
}

func (p *peerProgram) classes(t *testing.T) (dir string) {
	t.Helper()
	p.once.Do(func() {
		p.dir = leasedtest.Lasting(t).TempDir()
		out, err := exec.Command("javac", "-d", p.dir, "-cp", classPath(), "testdata/Peer.java").CombinedOutput()
		if err != nil {
			p.err = fmt.Errorf("javac: %w: %s", err, out)
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.dir
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

// pythonPeer uses the system's Python, because Debian's kazoo is not for another.
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
	reason := fmt.Sprintf("%s is not installed; "+
		"install it with: apt-get install -y --no-install-recommends %s (or: make servers)", what, packages)
	if os.Getenv("HOLDFAST_NO_SKIP") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// TestPeer is a process that the tests of others start.
func TestPeer(t *testing.T) {
	kind, args := interop.Kind(t)
	server, path, what := args[0], args[1], args[2]
	var write, read interop.Guard
	if kind == zkLock.Name {
		write = theirs(t, server, path)
	} else {
		write, read = oursIn(t, zklock.Layout(kind), server, strings.TrimPrefix(path, "/"), what == "visit")
	}
	interop.RunPeer(t, write, read)
}

// oursIn returns the sections of a writer and of a reader; of an exclusive lock alone where that is what there is.
func oursIn(t *testing.T, layout zklock.Layout, server, name string, exclusive bool) (write, read interop.Guard) {
	c := holdfast.New(open(t, &zklock.Options{Layout: layout}, server))
	t.Cleanup(func() { c.Close(context.Background()) })
	if exclusive {
		return do(c.Mutex(name, holdfast.WithLocalHandoff(0)).Do), nil
	}
	m := c.RWMutex(name, holdfast.WithLocalHandoff(0))
	return do(m.Do), do(m.RDo)
}

func do(under func(context.Context, func(context.Context, *holdfast.Lease) error) error) interop.Guard {
	return func(ctx context.Context, f func()) error {
		return under(ctx, func(context.Context, *holdfast.Lease) error { f(); return nil })
	}
}

// theirs is the section of go-zookeeper's own lock.
func theirs(t *testing.T, server, path string) interop.Guard {
	conn := raw(t, server)
	return func(_ context.Context, f func()) error {
		l := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
		if err := l.Lock(); err != nil {
			return err
		}
		f()
		return l.Unlock()
	}
}
