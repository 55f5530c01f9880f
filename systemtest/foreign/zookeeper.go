package foreign

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Kazoo is kazoo's Lock, and ZKLock go-zookeeper's. Their sessions have the TTL as their timeout.
var (
	Kazoo  = Program{Name: "kazoo", Renews: true, start: startKazoo}
	ZKLock = Program{Name: "zk.Lock", Renews: true, start: self("zk.Lock", nothing)}
)

//go:embed testdata/kazoo.py
var kazoo string

func startKazoo(t testing.TB) []string {
	t.Helper()
	return []string{servers.Python(t, "kazoo"), "-B", "-c", kazoo}
}

//go:embed testdata/Visits.java
var visits []byte

// Curator is Curator's InterProcessMutex, with such a session, too. It is compiled for a test when it is wanted first.
func Curator(t testing.TB) Program {
	compiled := sync.OnceValues(func() (dir string, err error) {
		dir = t.TempDir()
		source := filepath.Join(dir, "Visits.java")
		if err := os.WriteFile(source, visits, 0o600); err != nil {
			return "", err
		}
		return dir, servers.CompileForCurator(t, source, dir)
	})
	return Program{Name: "Curator", Renews: true, start: func(t testing.TB) []string {
		t.Helper()
		dir, err := compiled()
		if err != nil {
			t.Fatal(err)
		}
		return servers.CuratorCommand(dir, "Visits")
	}}
}

type zooKeeper struct{ conn *zk.Conn }

func openZooKeeper(_ string, addrs []string, ttl time.Duration) (library, error) {
	conn, events, err := zk.Connect(addrs, ttl)
	if err != nil {
		return nil, err
	}
	go func() { // ends with the process
		for range events {
		}
	}()
	return zooKeeper{conn}, nil
}

// lock has no way to give a wait up: the process has to end.
func (z zooKeeper) lock(ctx context.Context, name string) (unlock, error) {
	l := zk.NewLock(z.conn, "/"+name, zk.WorldACL(zk.PermAll))
	locked := make(chan error, 1)
	go func() { locked <- l.Lock() }()
	select {
	case err := <-locked:
		return l.Unlock, err
	case <-ctx.Done():
		return nil, errors.New("it waits on")
	}
}

func (z zooKeeper) die() {}
