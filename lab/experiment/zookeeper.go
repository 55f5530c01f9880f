package experiment

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/lab/classic"
)

func onZooKeeper() []Experiment {
	return []Experiment{{
		Name:     "zookeeper-herd",
		Question: "Who is woken in ZooKeeper when a lock is given back?",
		Needs:    "ZooKeeper",
		Code:     "classic/zk_one_node.go",
		Variants: []Variant{
			{Title: "One node that everybody watches", Run: func(s *Trial) {
				addr := s.zooKeeperAddr()
				herd(s, oneNodeLine(s, addr), s.sizes())
			}},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) {
				addr := s.zooKeeperAddr()
				herd(s, ourLine(s, "zk://"+addr, func() float64 { return zooKeeperEvents(s, addr) }), s.sizes())
			}},
		},
		Answer: eventsForRelease,
	}}
}

func oneNodeLine(s *Trial, addr string) line {
	tower := &watchtower{seen: make(map[int]bool)}
	path := "/" + herdName()
	return line{
		join: func(s *Trial) func(context.Context) (func(), error) {
			l := classic.OneNode{Conn: s.zooKeeper(addr), Path: path, Watching: tower.client()}
			return func(ctx context.Context) (func(), error) {
				return func() { _ = l.Unlock() }, l.Lock(ctx)
			}
		},
		waiting: tower.waiting,
		release: tower.release,
		events:  func() float64 { return zooKeeperEvents(s, addr) },
	}
}

// zooKeeper returns a session of its own, once it has begun.
func (s *Trial) zooKeeper(addr string) *zk.Conn {
	s.Helper()
	ready := make(chan struct{})
	begin := sync.OnceFunc(func() { close(ready) })
	conn, _, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogger(silent{}),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				begin()
			}
		}))
	s.Must(err)
	s.Cleanup(conn.Close)
	select {
	case <-ready:
	case <-s.Context().Done():
		s.Fatal("ZooKeeper gives no session")
	}
	return conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// zooKeeperEvents is how many events the server has sent to those who watch nodes.
func zooKeeperEvents(s *Trial, addr string) float64 {
	s.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", addr)
	s.Must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, "mntr")
	s.Must(err)
	metrics, err := io.ReadAll(conn)
	s.Must(err)
	return sum(string(metrics), func(name string) bool {
		return strings.HasPrefix(name, "zk_sum_node_") && strings.HasSuffix(name, "_watch_count")
	})
}
