package zklock

import (
	"crypto/sha1"
	"encoding/base64"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// administrator may delete what only its maker may touch otherwise.
const administrator = "super:of the tests"

var pool = leasedtest.Pool{
	Start: func(t testing.TB) *servers.Server {
		digest := sha1.Sum([]byte(administrator))
		return servers.ZooKeeper(t, "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:"+
			base64.StdEncoding.EncodeToString(digest[:]))
	},
	Empty: func(s *servers.Server) error {
		conn, _, err := zk.Connect([]string{s.Addr}, 20*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.AddAuth("digest", []byte(administrator)); err != nil {
			return err
		}
		return empty(conn, "/")
	},
}

// quiet is a logger of the library that says nothing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Server returns a server that has no nodes and that the test must leave running.
func Server(t testing.TB) *servers.Server { return pool.Lend(t) }

// empty deletes all nodes beneath one, except ZooKeeper's own. Sessions that end meanwhile delete some themselves.
func empty(conn *zk.Conn, node string) error {
	children, _, err := conn.Children(node)
	if err != nil && err != zk.ErrNoNode {
		return err
	}
	for _, name := range children {
		child := path.Join(node, name)
		if child == "/zookeeper" {
			continue
		}
		if err := empty(conn, child); err != nil {
			return err
		}
		if err := conn.Delete(child, -1); err != nil && err != zk.ErrNoNode {
			return err
		}
	}
	return nil
}
