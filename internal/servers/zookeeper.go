package servers

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ZooKeeper starts a ZooKeeper server that allows sessions from 0.2 s to 2 min. More lines, like "maxClientCnxns=5",
// go to its configuration; those that begin with -D are for its Java.
func ZooKeeper(t testing.TB, lines ...string) *Server {
	t.Helper()
	return start(t, zookeeperKind(t, zookeeperServes, func(s *Server) []string { return lines }))
}

// ZooKeeperEnsemble starts ZooKeeper servers that agree with each other. More lines go to the configuration of each.
func ZooKeeperEnsemble(t testing.TB, n int, lines ...string) []*Server {
	t.Helper()
	members := []string{"standaloneEnabled=false", "initLimit=100", "syncLimit=20"}
	for i := range n {
		peer, election := FreeAddr(t), FreeAddr(t)
		_, port, _ := net.SplitHostPort(election)
		members = append(members, fmt.Sprintf("server.%d=%s:%s", i+1, peer, port))
	}
	ensemble := make([]*Server, n)
	for i := range n {
		ensemble[i] = start(t, zookeeperKind(t, zookeeperListens, func(s *Server) []string {
			write(t, filepath.Join(s.Dir, "data", "myid"), fmt.Sprint(i+1))
			return append(members, lines...)
		}))
	}
	waitForZooKeeper(t, ensemble)
	return ensemble
}

func waitForZooKeeper(t testing.TB, ensemble []*Server) {
	t.Helper()
	waitFor(t, "the ZooKeeper ensemble has a leader", func(ctx context.Context) error {
		for _, s := range ensemble {
			if err := zookeeperServes(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// ZooKeeperApart starts ZooKeeper servers with the timing of ZooKeeper's guide, on a network of their own, where
// tests can cut them off from each other, and each with a disk of its own for its log, which can be stalled: see
// [Server.StallDisk].
func ZooKeeperApart(t testing.TB, n int, lines ...string) ([]*Server, *Network) {
	t.Helper()
	network := NewNetwork(t, n)
	members := []string{
		"standaloneEnabled=false", "tickTime=2000", "initLimit=5", "syncLimit=2", "forceSync=yes",
		"clientPortAddress=0.0.0.0", "clientPort=2181",
	}
	for i := range n {
		members = append(members, fmt.Sprintf("server.%d=%s:2888:3888", i+1, network.IP(i)))
	}
	ensemble := make([]*Server, n)
	for i := range n {
		k := zookeeperKind(t, zookeeperListens, func(s *Server) []string {
			dir := filepath.Join(s.Dir, "snapshots") // the disk is mounted over "data"
			write(t, filepath.Join(dir, "myid"), fmt.Sprint(i+1))
			return slices.Concat(members, []string{"dataDir=" + dir, "dataLogDir=" + filepath.Join(s.Dir, "data")},
				lines)
		})
		ensemble[i] = start(t, network.in(t, i, "2181", onDisk(t, k)))
	}
	waitForZooKeeper(t, ensemble)
	return ensemble, network
}

// zookeeperKind is a ZooKeeper server with these lines in its configuration besides those that all have. It does not
// wait for disks.
func zookeeperKind(t testing.TB, ready func(context.Context, *Server) error, more func(*Server) []string) kind {
	t.Helper()
	k := kind{
		name:    "zookeeper",
		program: "java",
		install: "apt-get install -y --no-install-recommends zookeeper default-jre-headless",
		args: func(s *Server) []string {
			properties, config := []string{}, zookeeperConfig(s)
			for _, line := range more(s) {
				if strings.HasPrefix(line, "-D") {
					properties = append(properties, line)
				} else {
					config = append(config, line)
				}
			}
			write(t, filepath.Join(s.Dir, "zoo.cfg"), strings.Join(config, "\n"))
			return slices.Concat(
				[]string{"-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"},
				[]string{"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}, properties,
				[]string{"-cp", zookeeperJars(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"})
		},
		ready: ready,
	}
	if _, ok := inPlaceOf(zooKeeper); ok {
		k.install = installExtra
	}
	if _, err := os.Stat(filepath.Join(jars(), "zookeeper.jar")); err != nil {
		Require(t, false, "ZooKeeper", k.install)
	}
	return k
}

// jars is the folder of what Java is given: where Debian has it, or where a version is unpacked.
func jars() string {
	const debian = "/usr/share/java"
	if v, ok := inPlaceOf(zooKeeper); ok {
		return filepath.Join(v.path("root"), debian)
	}
	return debian
}

// zookeeperJars is the class path. TLS needs Netty. ZooKeeper itself comes last, because it names the others that it
// was built with where the system has them.
func zookeeperJars() string {
	list := []string{filepath.Join(jars(), "slf4j-simple.jar")}
	parts := []string{"netty-common", "netty-buffer", "netty-transport", "netty-handler", "netty-codec",
		"netty-resolver", "netty-transport-native-unix-common", "netty-transport-native-epoll"}
	if _, ok := inPlaceOf(zooKeeper); ok {
		parts = append(parts, "zookeeper-jute", "slf4j-api", "commons-cli", "commons-io", "jackson-annotations",
			"jackson-core", "jackson-databind", "jetty9-*", "jline", "metrics-core", "snappy-java",
			"log4j-1.2", "xercesImpl")
	}
	for _, part := range parts {
		found, _ := filepath.Glob(filepath.Join(jars(), part+".jar"))
		list = append(list, found...)
	}
	return strings.Join(append(list, filepath.Join(jars(), "zookeeper.jar")), ":")
}

func zookeeperConfig(s *Server) []string {
	return []string{
		"dataDir=" + filepath.Join(s.Dir, "data"), "preAllocSize=4096", "forceSync=no",
		"clientPortAddress=127.0.0.1", "clientPort=" + s.Port(), "maxClientCnxns=0",
		"tickTime=100", "minSessionTimeout=200", "maxSessionTimeout=120000",
		"admin.enableServer=false", "4lw.commands.whitelist=*", "extendedTypesEnabled=true",
	}
}

// write writes a file, and makes its folder.
func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// zookeeperListens asks whether it is our server that listens, alone or not, and not one that had the port before.
func zookeeperListens(ctx context.Context, s *Server) error {
	answer, err := s.zookeeperWord(ctx, "conf")
	if err == nil && !strings.Contains(answer, s.Dir) && !strings.Contains(answer, "not currently serving") {
		err = fmt.Errorf("another server answers at %s", s.Addr)
	}
	return err
}

// zookeeperServes asks whether our server serves clients.
func zookeeperServes(ctx context.Context, s *Server) error {
	if err := zookeeperListens(ctx, s); err != nil {
		return err
	}
	answer, err := s.zookeeperWord(ctx, "srvr")
	if err == nil && !strings.Contains(answer, "\nMode: ") {
		err = fmt.Errorf("it answers %q", answer)
	}
	return err
}

// ZooKeeperLeads reports whether the server leads its ensemble.
func (s *Server) ZooKeeperLeads(t testing.TB) bool {
	t.Helper()
	return strings.Contains(s.ZooKeeperWord(t, "srvr"), zooKeeperLeads)
}

// ZooKeeperLeader waits until one of the servers leads, and returns its place.
func ZooKeeperLeader(t testing.TB, ensemble []*Server) (i int) {
	t.Helper()
	waitFor(t, "a ZooKeeper server leads", func(ctx context.Context) error {
		i = slices.IndexFunc(ensemble, func(s *Server) bool {
			answer, err := s.zookeeperWord(ctx, "srvr")
			return err == nil && strings.Contains(answer, zooKeeperLeads)
		})
		return found(i)
	})
	return i
}

// zooKeeperLeads is what a leader says of itself.
const zooKeeperLeads = "\nMode: leader\n"

// ZooKeeperWord sends one of ZooKeeper's four-letter words to the server, and returns the answer.
func (s *Server) ZooKeeperWord(t testing.TB, word string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	answer, err := s.zookeeperWord(ctx, word)
	for err != nil && ctx.Err() == nil { // a server may leave a question without an answer while it changes its role
		answer, err = s.zookeeperWord(ctx, word)
	}
	if err != nil {
		t.Fatalf("zookeeper %s: %v", word, err)
	}
	return answer
}

// zookeeperWord asks once, for a moment: a server that is starting may accept the question and never answer.
func (s *Server) zookeeperWord(ctx context.Context, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && len(answer) == 0 {
		err = fmt.Errorf("no answer to %s", word)
	}
	return string(answer), err
}
