package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// GroupReplication starts a group of MySQL servers as [MariaDB] starts one, all of them primaries, which replicate to
// each other what they commit, and returns when each is a member. More arguments go to each. They are not restarted.
// It is for tests that run on MySQL, and skips others.
func GroupReplication(t testing.TB, n int, args ...string) []*Server {
	t.Helper()
	v, ok := inPlaceOf(mySQL)
	if !ok {
		t.Skip("for HOLDFAST_EXTRA=mysql-9")
	}
	const plugin = "group_replication.so"
	_, err := os.Stat(filepath.Join(mysqlPlugins(v.path("mysqld")), plugin))
	Require(t, err == nil, plugin+" of "+v.Name, installExtra)
	var nodes []*Server
	var peers []string
	for i := range n {
		peers = append(peers, FreeAddr(t))
		own := append(groupArgs(plugin, i, peers), args...)
		k := mysqlKind(t, v, own)
		k.ready = groupReady
		nodes = append(nodes, start(t, k))
	}
	return nodes
}

// groupArgs are for the node that is the last of peers. All begin with the same data, of which no log tells, so nothing
// is copied to one that joins. A node that is slow to answer on a busy machine must not be taken for dead.
func groupArgs(plugin string, place int, peers []string) []string {
	list := []string{
		"group-name=6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"local-address=" + peers[place], "group-seeds=" + strings.Join(peers, ","), "ip-allowlist=127.0.0.1/8",
		"single-primary-mode=OFF", "enforce-update-everywhere-checks=ON",
		"start-on-boot=ON", "member-expel-timeout=60",
	}
	if place == 0 {
		list = append(list, "bootstrap-group=ON")
	}
	own := []string{
		fmt.Sprintf("--server-id=%d", place+1), "--log-bin=log", "--relay-log=relay", "--report-host=127.0.0.1",
		"--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--plugin-load-add=" + plugin,
	}
	for _, one := range list {
		own = append(own, "--loose-group-replication-"+one) // the server knows none of them before it has the plugin
	}
	return own
}

// groupReady asks whether a node listens, and says that it is a member.
func groupReady(ctx context.Context, s *Server) error {
	if err := mysqlReady(ctx, s); err != nil {
		return err
	}
	log, err := os.ReadFile(s.log)
	if err == nil && !strings.Contains(string(log), "This server was declared online within the replication group") {
		err = errors.New("it is no member of its group")
	}
	return err
}
