package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Galera starts a cluster of servers as [MariaDB] starts one, which replicate to each other what they commit, and
// returns when each is in step with the others. More arguments go to each. They are not restarted. There is only the
// usual version.
func Galera(t testing.TB, n int, args ...string) []*Server {
	t.Helper()
	for _, engine := range []string{mySQL, mariaDB} {
		if v, ok := inPlaceOf(engine); ok {
			t.Skipf("%s takes the place of the MariaDB that Galera belongs to", v.Name)
		}
	}
	library := installed("", "/usr/lib/galera/libgalera_smm.so")
	Require(t, library != "", "galera-4", "apt-get install -y --no-install-recommends mariadb-server galera-4")
	var nodes []*Server
	var peers []string
	for i := range n {
		group := FreeAddr(t)
		k := mariaDBKind(slices.Concat(galeraArgs(library, i, group, peers), args))
		usual := k.args
		k.args = func(s *Server) []string {
			write(t, filepath.Join(data(s), "grastate.dat"), galeraState(i))
			return usual(s)
		}
		k.ready = func(ctx context.Context, s *Server) error { return galeraReady(ctx, s, i) }
		nodes, peers = append(nodes, start(t, k)), append(peers, group)
	}
	return nodes
}

// galeraState is what a node knows of its data when it starts. All begin with the same data. The cluster counts each
// change, and each node that joins as one: a node that was there for all but that has everything, and so nothing is
// copied to it.
func galeraState(place int) string {
	first := 0
	if place == 0 {
		first = 1
	}
	return fmt.Sprintf("# GALERA saved state\nversion: 2.1\nuuid: 6ba7b810-9dad-11d1-80b4-00c04fd430c8\nseqno: %d\n"+
		"safe_to_bootstrap: %d\n", place+1, first)
}

// galeraArgs are for the node that joins those at peers. A node that is slow to answer on a busy machine must not be
// taken for dead: it would join once more.
func galeraArgs(library string, place int, group string, peers []string) []string {
	_, port, _ := strings.Cut(group, ":")
	options := []string{
		"base_host=127.0.0.1", "base_port=" + port, "gmcast.listen_addr=tcp://" + group, "gcache.size=8M",
		"evs.inactive_timeout=PT60S", "evs.suspect_timeout=PT60S",
	}
	own := []string{
		"--wsrep-on=ON", "--binlog-format=ROW", "--wsrep-provider=" + library, "--wsrep-node-address=127.0.0.1",
		"--wsrep-node-name=" + galeraName(place), "--wsrep-provider-options=" + strings.Join(options, ";"),
		"--wsrep-cluster-address=gcomm://" + strings.Join(peers, ","),
	}
	if place == 0 {
		own = append(own, "--wsrep-new-cluster")
	}
	return own
}

func galeraName(place int) string { return fmt.Sprintf("node%d", place) }

// galeraReady asks whether a node listens, and says that it is in step.
func galeraReady(ctx context.Context, s *Server, place int) error {
	if err := mysqlReady(ctx, s); err != nil {
		return err
	}
	log, err := os.ReadFile(s.log)
	if err == nil && !strings.Contains(string(log), "Server "+galeraName(place)+" synced with group") {
		err = errors.New("it is not in step with its cluster")
	}
	return err
}
