package servers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestZooKeeper(t *testing.T) {
	s := servers.ZooKeeper(t, "maxClientCnxns=7")
	if conf := s.ZooKeeperWord(t, "conf"); !strings.Contains(conf, "maxClientCnxns=7\n") {
		t.Errorf("the configuration is\n%s", conf)
	}
	s.Kill(t)
	s.Restart(t)
	if srvr := s.ZooKeeperWord(t, "srvr"); !strings.Contains(srvr, "Mode: standalone") {
		t.Errorf("after a crash it says\n%s", srvr)
	}
}

func TestZooKeeperEnsemble(t *testing.T) {
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	leader := leaders(t, ensemble)
	if len(leader) != 1 {
		t.Fatalf("%d leaders", len(leader))
	}
	leader[0].Kill(t)
	var rest []*servers.Server
	for _, s := range ensemble {
		if s.Pid != 0 {
			rest = append(rest, s)
		}
	}
	for limit := time.Now().Add(time.Minute); len(leaders(t, rest)) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the others have found no leader")
		}
	}
}

func leaders(t *testing.T, ensemble []*servers.Server) (lead []*servers.Server) {
	for _, s := range ensemble {
		if s.ZooKeeperLeads(t) {
			lead = append(lead, s)
		}
	}
	return lead
}
