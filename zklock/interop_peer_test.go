package zklock_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/interop"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

var (
	kazoo         = interop.Program{Name: "kazoo", Command: pythonPeer}
	zkLock        = interop.Self("zk.Lock", "zk.Lock")
	oursAsCurator = interop.Self("ours", string(zklock.Curator))
	oursAsKazoo   = interop.Self("ours", string(zklock.Kazoo))
)

// curator is Curator's program.
var curator = interop.Program{Name: "Curator", Command: func(t *testing.T) *exec.Cmd {
	servers.NeedCurator(t)
	line := servers.CuratorCommand(compiled.classes(t), "Peer")
	return exec.Command(line[0], line[1:]...)
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
		p.err = servers.CompileForCurator(t, "testdata/Peer.java", p.dir)
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.dir
}

// pythonPeer uses the system's Python, because Debian's kazoo is not for another.
func pythonPeer(t *testing.T) *exec.Cmd {
	return exec.Command(servers.Python(t, "kazoo"), "-B", filepath.Join("testdata", "peer.py"))
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
