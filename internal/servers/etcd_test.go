package servers_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func etcdctl(t *testing.T, cluster []*servers.Server, args ...string) string {
	t.Helper()
	out, err := servers.Etcdctl(t, cluster, args...).Output()
	if err != nil {
		t.Fatalf("etcdctl %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func TestEtcd(t *testing.T) {
	one := []*servers.Server{servers.Etcd(t)}
	if got := etcdctl(t, one, "put", "k", "v"); got != "OK" {
		t.Fatalf("put answers %q", got)
	}
	one[0].Kill(t)
	one[0].Restart(t)
	if got := etcdctl(t, one, "get", "--print-value-only", "k"); got != "v" {
		t.Errorf("after a crash the value is %q", got)
	}
}

func TestEtcdCluster(t *testing.T) {
	cluster := servers.EtcdCluster(t, 3)
	if got := etcdctl(t, cluster[:1], "put", "k", "v"); got != "OK" {
		t.Fatalf("put answers %q", got)
	}
	cluster[0].Kill(t)
	if got := etcdctl(t, cluster[1:], "get", "--print-value-only", "k"); got != "v" {
		t.Errorf("the others have %q", got)
	}
}
