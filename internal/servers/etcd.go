package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// etcdBuild is the folder of the module that pins etcd's usual version. Others are pinned in folders in it.
const etcdBuild = "etcdbuild"

// Etcd starts an etcd server with short election timeouts, so that leases may be as short as a second. More arguments
// go to the server.
func Etcd(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, etcdKind(t, etcdHealthy, func(s *Server) []string { return args }))
}

// EtcdCluster starts etcd servers that agree with each other. More arguments go to each of them.
func EtcdCluster(t testing.TB, n int, args ...string) []*Server {
	t.Helper()
	names, peers := make([]string, n), make([]string, n)
	for i := range n {
		names[i] = fmt.Sprintf("m%d", i)
		peers[i] = names[i] + "=http://" + FreeAddr(t)
	}
	cluster := make([]*Server, n)
	for i := range n {
		_, peer, _ := strings.Cut(peers[i], "=")
		cluster[i] = start(t, etcdKind(t, etcdListens, func(s *Server) []string {
			return slices.Concat([]string{
				"--name", names[i], "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
				"--initial-cluster", strings.Join(peers, ","),
			}, args)
		}))
	}
	waitFor(t, "the etcd cluster has a leader", func(ctx context.Context) error { return allHealthy(ctx, cluster) })
	return cluster
}

// EtcdApart starts etcd servers with the timing that they have by default, on a network of their own, where tests can
// cut them off from each other, and each on a disk of its own, which can be stalled: see [Server.StallDisk].
func EtcdApart(t testing.TB, n int) ([]*Server, *Network) {
	t.Helper()
	network := NewNetwork(t, n)
	names := make([]string, n)
	for i := range n {
		names[i] = fmt.Sprintf("m%d=http://%s:2380", i, network.IP(i))
	}
	cluster := make([]*Server, n)
	for i := range n {
		name, peer, _ := strings.Cut(names[i], "=")
		k := etcdKind(t, etcdListens, func(s *Server) []string {
			return []string{
				"--name", name, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
				"--initial-cluster", strings.Join(names, ","), "--listen-client-urls", "http://0.0.0.0:2379",
				"--heartbeat-interval", "100", "--election-timeout", "1000", "--unsafe-no-fsync=false",
			}
		})
		cluster[i] = start(t, network.in(t, i, "2379", onDisk(t, k)))
	}
	waitFor(t, "the etcd cluster has a leader", func(ctx context.Context) error { return allHealthy(ctx, cluster) })
	return cluster, network
}

// etcdKind is an etcd server with these arguments besides those that all have. It keeps its data in memory where the
// system has a place for that, and does not wait for disks.
func etcdKind(t testing.TB, ready func(context.Context, *Server) error, more func(*Server) []string) kind {
	return kind{
		name:    "etcd",
		program: etcdProgram(t, "etcd"),
		install: "cd internal/servers && go test -run TestEtcd . # which builds it, with network",
		args: func(s *Server) []string {
			return slices.Concat([]string{
				"--data-dir", filepath.Join(s.Dir, "data"), "--log-level", "error", "--unsafe-no-fsync",
				"--listen-client-urls", "http://" + s.Addr, "--advertise-client-urls", "http://" + s.Addr,
				"--listen-peer-urls", "http://127.0.0.1:0",
				"--heartbeat-interval", "20", "--election-timeout", "200",
			}, more(s))
		},
		ready: ready,
	}
}

func allHealthy(ctx context.Context, cluster []*Server) error {
	for _, s := range cluster {
		if err := etcdHealthy(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// etcdHealthy asks whether the server has a leader and answers.
func etcdHealthy(ctx context.Context, s *Server) error {
	return etcdAnswers(ctx, s, "/health", `"health":"true"`)
}

// etcdListens asks whether the server is up, alone or not.
func etcdListens(ctx context.Context, s *Server) error {
	select {
	case <-s.proc.ended:
		return fmt.Errorf("it has ended")
	default:
		return nil
	}
}

func etcdAnswers(ctx context.Context, s *Server, path, want string) error {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond) // during an election it takes long to say no
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Addr+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(string(body), want) {
		err = fmt.Errorf("%s answers %q", path, body)
	}
	return err
}

// waitFor asks until nobody objects.
func waitFor(t testing.TB, what string, ask func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it did not happen: %s: %v", what, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// EtcdLeader waits until one of the servers leads, and returns its place.
func EtcdLeader(t testing.TB, cluster []*Server) (i int) {
	t.Helper()
	waitFor(t, "an etcd server leads", func(ctx context.Context) error {
		i = slices.IndexFunc(cluster, func(s *Server) bool { return etcdLeads(ctx, s) })
		return found(i)
	})
	return i
}

// etcdLeads asks a server for its own number, and for the leader's.
func etcdLeads(ctx context.Context, s *Server) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr+"/v3/maintenance/status",
		strings.NewReader("{}"))
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var status struct {
		Header struct {
			Member string `json:"member_id"`
		}
		Leader string
	}
	err = json.NewDecoder(answer.Body).Decode(&status)
	return err == nil && status.Leader != "" && status.Leader == status.Header.Member
}

// found is an error for the place of nobody.
func found(i int) error {
	if i < 0 {
		return errors.New("none does")
	}
	return nil
}

// Etcdctl returns a command line of etcdctl that talks to the servers.
func Etcdctl(t testing.TB, cluster []*Server, args ...string) *exec.Cmd {
	t.Helper()
	var endpoints []string
	for _, s := range cluster {
		endpoints = append(endpoints, s.Addr)
	}
	return exec.Command(etcdProgram(t, "etcdctl"),
		append([]string{"--endpoints", strings.Join(endpoints, ",")}, args...)...)
}

// etcdPackages are what is built, by the name of the program.
var etcdPackages = map[string]string{"etcd": "go.etcd.io/etcd/server/v3", "etcdctl": "go.etcd.io/etcd/etcdctl/v3"}

// etcdBuilt is the folder of the programs, built at most once by each process.
var etcdBuilt = sync.OnceValues(func() (string, error) {
	if v, ok := inPlaceOf(etcd); ok {
		return buildEtcd(v.module())
	}
	return buildEtcd(etcdBuild)
})

// etcdProgram returns the path of a program of etcd. Where it cannot be built, that is the bare name, which start looks
// for in the usual places.
func etcdProgram(t testing.TB, name string) string {
	t.Helper()
	if v, ok := inPlaceOf(etcd); ok && v.From != goModules {
		return v.path(name)
	}
	dir, err := etcdBuilt()
	if err != nil {
		t.Logf("building etcd: %v", err)
		return name
	}
	return filepath.Join(dir, name)
}

// buildEtcd builds what is not in the cache yet, of the version that the module in a folder here pins. That takes a
// minute or two and the network.
func buildEtcd(folder string) (dir string, err error) {
	here, err := goOutput("", "list", "-f", "{{.Dir}}", "github.com/holdfast-go/holdfast/internal/servers")
	if err != nil {
		return "", err
	}
	module := filepath.Join(here, filepath.FromSlash(folder))
	version, err := goOutput(module, "list", "-m", "-f", "{{.Version}}", etcdPackages["etcd"])
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "holdfast", "etcd-"+version)
	for name, pkg := range etcdPackages {
		if err := buildInto(module, filepath.Join(dir, name), pkg); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// buildInto builds a program unless it is there. Another process may do the same at the same time.
func buildInto(module, program, pkg string) error {
	if _, err := os.Stat(program); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	unfinished := fmt.Sprintf("%s.%d", program, os.Getpid())
	if _, err := goOutput(module, "build", "-trimpath", "-ldflags", "-s -w", "-o", unfinished, pkg); err != nil {
		return err
	}
	return os.Rename(unfinished, program)
}

// goOutput runs the go command in a folder, outside the workspace when one is given.
func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if dir != "" {
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, complaint.String())
	}
	return strings.TrimSpace(string(out)), nil
}
