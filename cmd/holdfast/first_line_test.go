//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A mistake is something that a user gets wrong, and what the first line that the command prints must say about it.
type mistake struct {
	what  string
	url   string             // of the backend; "": none is named
	args  []string           // of the command; nil: tryRun
	under []string           // a program that runs the command
	env   []string           // more of the environment
	setup func(t *testing.T) // what must be so before; may be nil
	says  []string           // each of these regular expressions matches the first line
	code  int                // the exit code; 0: exitUnavailable
}

// tryRun is what a user types who has made a mistake elsewhere.
var tryRun = []string{"run", "--no-wait", "backup", "--", "true"}

// TestFirstLineNamesTheCause makes the mistakes that users make on every engine that has them. For each, the first line
// that the user sees names the cause, in one sentence and without a password.
func TestFirstLineNamesTheCause(t *testing.T) {
	effort.Long(t)
	for engine, mistakes := range map[string]func(t *testing.T) []mistake{
		"command":   commandMistakes,
		"file":      fileMistakes,
		"redis":     redisMistakes,
		"redlock":   redlockMistakes,
		"etcd":      etcdMistakes,
		"zookeeper": zookeeperMistakes,
		"mariadb":   func(t *testing.T) []mistake { return databaseMistakes(t, servers.Databases[0]) },
		"postgres":  func(t *testing.T) []mistake { return databaseMistakes(t, servers.Databases[1]) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for _, m := range mistakes(t) {
				t.Run(m.what, m.test)
			}
		})
	}
}

// test makes the mistake and looks at what the user sees.
func (m mistake) test(t *testing.T) {
	if m.setup != nil {
		m.setup(t)
	}
	line, code := m.run(t)
	t.Log(line)
	if want := cmp.Or(m.code, exitUnavailable); code != want {
		t.Errorf("the exit code is %d, want %d", code, want)
	}
	for _, part := range m.says {
		if !regexp.MustCompile("(?i)" + part).MatchString(line) {
			t.Errorf("the first line does not say %q", part)
		}
	}
	checkSentence(t, line)
}

// run runs the command and returns the first line of what it prints on stderr.
func (m mistake) run(t *testing.T) (line string, code int) {
	t.Helper()
	args := m.args
	if args == nil {
		args = tryRun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // it only ends what hangs
	defer cancel()
	words := slices.Concat(m.under, []string{"holdfast"}, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if m.url != "" {
		cmd.Env = append(cmd.Env, backendEnv+"="+m.url)
	}
	cmd.Env = append(cmd.Env, m.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	line, _, _ = strings.Cut(stderr.String(), "\n")
	return line, cmd.ProcessState.ExitCode()
}

// checkSentence looks for what no line may have: a password, advice twice, or words that only a program reads.
func checkSentence(t *testing.T, line string) {
	t.Helper()
	for _, part := range []string{"s3cret", "wr0ng", "%!", "/*", "rpc error", "\\n", "goroutine"} {
		if strings.Contains(line, part) {
			t.Errorf("the line has %q", part)
		}
	}
	if strings.Count(line, "running") > 1 || strings.Count(line, "reachable") > 1 {
		t.Errorf("the line asks more than once whether the server is running")
	}
	if strings.Contains(line, "certificate") && strings.Contains(line, "reachable") {
		t.Errorf("the line asks whether a server is reachable that has shown its certificate")
	}
	if len(line) > 500 {
		t.Errorf("the line has %d characters: nobody reads that far", len(line))
	}
}

// closedPort returns an address that refuses connections.
func closedPort(t *testing.T) string { return servers.FreeAddr(t) }

// silent returns the address of a server that says nothing. The kernel accepts connections for it.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// webServer returns the address of a server of another protocol.
func webServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func commandMistakes(t *testing.T) []mistake {
	file := "file:" + filepath.Join(t.TempDir(), "locks.db")
	return []mistake{
		{what: "no command", url: file, args: []string{"run", "backup"}, code: exitUsage, says: []string{"--"}},
		{what: "an empty name", url: file, args: []string{"run", "", "--", "true"}, code: exitUsage,
			says: []string{"name", "empty"}},
		{what: "a duration without a unit", url: file, args: []string{"run", "-w", "30", "backup", "--", "true"},
			code: exitUsage, says: []string{"30", "30s"}},
		{what: "a verb that is not there", url: file, args: []string{"rnu", "backup"}, code: exitUsage,
			says: []string{"rnu"}},
		{what: "a program that is not there", url: file, args: []string{"run", "backup", "--", "no-such-program"},
			code: exitNotFound, says: []string{"no-such-program"}},
		{what: "a program without the right to run", url: file, args: []string{"run", "backup", "--", "/etc/passwd"},
			code: exitCannotRun, says: []string{"/etc/passwd", "permission denied"}},
		{what: "no slots", url: file, args: []string{"run", "--slots", "0", "backup", "--", "true"}, code: exitUsage,
			says: []string{"slots"}},
		{what: "a TTL that is too short", url: file, args: []string{"run", "--ttl", "1ms", "backup", "--", "true"},
			code: exitUsage, says: []string{"1ms", "300ms"}},
		{what: "a scheme that is not there", url: "memcached://127.0.0.1:11211", code: exitUsage,
			says: []string{"memcached"}},
		{what: "a scheme of the web", url: "http://127.0.0.1:2379", code: exitUsage, says: []string{"http"}},
		{what: "no scheme", url: "127.0.0.1:6379", code: exitUsage, says: []string{"redis://"}},
		{what: "an unknown parameter", url: "redis://127.0.0.1:6379?timeout=3s", code: exitUsage,
			says: []string{"timeout"}},
		{what: "a password on the command line", args: append([]string{"run", "--backend",
			"redis://me:s3cret@127.0.0.1:6379"}, tryRun[1:]...), code: exitUsage, says: []string{"--backend-file"}},
		{what: "a file of the URL that is not there", args: append([]string{"run", "--backend-file", "/nowhere/url"},
			tryRun[1:]...), code: exitUsage, says: []string{"/nowhere/url", "no such file"}},
	}
}

func fileMistakes(t *testing.T) []mistake {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) func(*testing.T) {
		return func(t *testing.T) {
			if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	fullFolder := servers.SmallDisk(t, 4)
	full := func(t *testing.T) { servers.FillDisk(t, fullFolder) }
	readOnly := func(t *testing.T) {
		mount := exec.Command("mount", "-t", "tmpfs", "-o", "ro", "holdfast", path("ro"))
		if out, err := mount.CombinedOutput(); err != nil {
			t.Fatalf("mount: %v: %s", err, out)
		}
		t.Cleanup(func() { exec.Command("umount", "--lazy", path("ro")).Run() })
	}
	for name, mode := range map[string]os.FileMode{"ro": 0o755, "private": 0o700} {
		if err := os.Mkdir(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return []mistake{
		{what: "a folder that is not there", url: "file:" + path("missing/locks.db"),
			says: []string{"missing", "no such file or directory"}},
		{what: "a folder in place of a file", url: "file:" + folder, code: exitUsage,
			says: []string{folder, "a folder"}},
		{what: "a file of another kind", url: "file:" + path("notes.txt"), setup: write("notes.txt",
			strings.Repeat("these are notes\n", 100)), says: []string{"notes.txt", "not a database"}},
		{what: "a relative path after two slashes", url: "file://locks.db", code: exitUsage,
			says: []string{"no host", "file:/path"}},
		{what: "a disk that is full", url: "file:" + filepath.Join(fullFolder, "locks.db"), setup: full,
			says: []string{"full"}},
		{what: "a disk that is read-only", url: "file:" + path("ro/locks.db"), setup: readOnly,
			says: []string{"read-only"}},
		{what: "a home that is read-only", under: []string{"unshare", "--mount", "sh", "-c",
			`mount -t tmpfs -o ro holdfast /var/lib && exec "$@"`, "sh"},
			says: []string{"/var/lib/holdfast", "read-only"}},
		{what: "no right to the folder", url: "file:" + path("private/locks.db"),
			under: []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"},
			says:  []string{"private", "permission denied"}},
	}
}

func redisMistakes(t *testing.T) []mistake {
	plain := servers.Redis(t)
	asks := servers.Redis(t, "--requirepass", "s3cret")
	full := servers.Redis(t, "--maxclients", "1")
	noMemory := servers.Redis(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	replica := servers.Redis(t, "--replicaof", "127.0.0.1 "+plain.Port())
	secure := servers.SecureRedis(t, servers.NewClock(t))
	expired := servers.SecureRedis(t, servers.NewClock(t))
	cluster := servers.Redis(t, "--cluster-enabled", "yes")
	plain.RedisCommand(t, "ACL", "SETUSER", "reader", "on", ">s3cret", "~*", "&*", "+@read", "+@connection", "+info")
	return append(common(t, at("redis"), plain.Addr),
		mistake{what: "a password that is wrong", url: "redis://:wr0ng@" + asks.Addr, says: []string{"WRONGPASS"}},
		mistake{what: "no password", url: "redis://" + asks.Addr, says: []string{"password"}},
		mistake{what: "no rights", url: "redis://reader:s3cret@" + plain.Addr, says: []string{"NOPERM"}},
		mistake{what: "a database that is not there", url: "redis://" + plain.Addr + "/99", says: []string{"99"}},
		mistake{what: "a server that is full", url: "redis://" + full.Addr, setup: func(t *testing.T) {
			occupy(t, full.Addr, "PING\r\n")
		}, says: []string{"max number of clients"}},
		mistake{what: "no memory", url: "redis://" + noMemory.Addr, says: []string{"OOM"}},
		mistake{what: "a replica", url: "redis://" + replica.Addr, says: []string{"READONLY", "replica"}},
		mistake{what: "a node of a cluster", url: "redis://" + cluster.Addr, says: []string{"cluster"}},
		mistake{what: "a server that is no sentinel", url: "redis-sentinel://" + plain.Addr + "/mymaster",
			says: []string{"sentinel"}},
		mistake{what: "a server that is no cluster", url: "redis-cluster://" + plain.Addr, says: []string{"cluster"}},
		mistake{what: "an authority that nobody vouches for", url: "rediss://" + secure.TLSAddr,
			says: []string{"certificate"}},
		mistake{what: "a certificate that has expired", setup: func(t *testing.T) { expired.Expire(t) },
			url: "rediss://" + expired.TLSAddr + "?ca=" + expired.Authority.File, says: []string{"expired"}},
		mistake{what: "TLS where there is none", url: "rediss://" + plain.Addr, says: []string{"TLS"}},
		mistake{what: "no TLS where there must be", url: "redis://" + secure.TLSAddr, says: []string{"TLS"}},
	)
}

// common are the mistakes that every server can be met with. base is the URL for an address.
func common(t *testing.T, base func(addr string) string, addr string) []mistake {
	others, hangsUp := webServer(t), hangsUp(t)
	return []mistake{
		{what: "a wrong port", url: base(closedPort(t)), says: []string{"connection refused"}},
		{what: "a locale that is not there", url: base(closedPort(t)),
			env:  []string{"LC_ALL=xx_YY.UTF-8", "LANG=xx_YY"},
			says: []string{"connection refused"}},
		{what: "the port of a web server", url: base(others),
			says: []string{others, "another protocol|not answer|says nothing|TLS"}},
		{what: "a proxy without a server behind it", url: base(hangsUp),
			says: []string{hangsUp, "closed the connection|hangs up|may want TLS|server ended"}},
		{what: "a server that says nothing", url: base(silent(t)), says: []string{"no(t| ) ?answer|says nothing"}},
	}
}

// at returns how to write the URL of a server that needs no more than its address.
func at(scheme string) func(addr string) string {
	return func(addr string) string { return scheme + "://" + addr }
}

// hangsUp returns the address of a server that closes each connection.
func hangsUp(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// occupy takes a connection of a server until the test ends, and waits for an answer on it.
func occupy(t *testing.T, addr, greeting string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, greeting)
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func redlockMistakes(t *testing.T) []mistake {
	one := servers.Redis(t)
	other := servers.Redis(t)
	return []mistake{
		{what: "two of three that refuse", url: "redlock://" + one.Addr + "," + closedPort(t) + "," + closedPort(t),
			says: []string{"connection refused"}},
		{what: "two servers", url: "redlock://" + one.Addr + "," + other.Addr, code: exitUsage, says: []string{"3"}},
		{what: "the same server three times", url: "redlock://" + one.Addr + "," + one.Addr + "," + one.Addr,
			code: exitUsage, says: []string{"twice"}},
	}
}

func etcdMistakes(t *testing.T) []mistake {
	plain := servers.Etcd(t)
	secure := servers.SecureEtcd(t)
	full := servers.Etcd(t, "--quota-backend-bytes", "65536")
	cluster := servers.EtcdCluster(t, 3)
	return append(common(t, at("etcd"), plain.Addr),
		mistake{what: "no TLS where there must be", url: "etcd://" + secure.TLSAddr, says: []string{"TLS"}},
		mistake{what: "TLS where there is none", url: "etcd://" + plain.Addr + "?tls=true", says: []string{"TLS"}},
		mistake{what: "an authority that nobody vouches for", url: "etcd://" + secure.TLSAddr + "?tls=true",
			says: []string{"certificate"}},
		mistake{what: "a password and a wrong port", url: "etcd://me:wr0ng@" + closedPort(t),
			says: []string{"connection refused"}},
		mistake{what: "a store that is full", url: "etcd://" + full.Addr, setup: func(t *testing.T) {
			for range 20 {
				servers.Etcdctl(t, []*servers.Server{full}, "put", "filler", strings.Repeat("x", 10000)).Run()
			}
		}, says: []string{"space"}},
		mistake{what: "half a cluster", url: "etcd://" + cluster[0].Addr, setup: func(t *testing.T) {
			cluster[1].Kill(t)
			cluster[2].Kill(t)
		}, says: []string{"leader"}},
	)
}

func zookeeperMistakes(t *testing.T) []mistake {
	plain := servers.ZooKeeper(t, "maxClientCnxns=2")
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	return append(common(t, at("zk"), plain.Addr),
		mistake{what: "half an ensemble", url: "zk://" + ensemble[0].Addr, setup: func(t *testing.T) {
			ensemble[1].Kill(t)
			ensemble[2].Kill(t)
		}, says: []string{"leader"}},
		mistake{what: "TLS where there is none", url: "zk://" + plain.Addr + "?tls=true", says: []string{"TLS"}},
	)
}

func databaseMistakes(t *testing.T, d servers.Database) []mistake {
	plain := d.Start(t)
	full := d.Start(t, map[string][]string{
		"mariadb": {"--max-connections=1"}, "postgres": {"-c", "max_connections=4", "-c", "max_wal_senders=0"},
	}[d.Name]...)
	url := d.URL(plain.Addr)
	scheme, _, _ := strings.Cut(url, "://")
	with := func(user, addr, db string) string { return scheme + "://" + user + "@" + addr + "/" + db }
	admin := map[string]string{"mariadb": "root", "postgres": "postgres"}[d.Name]
	list := append(common(t, d.URL, plain.Addr),
		mistake{what: "no tables", url: url, says: []string{"holdfast migrate"}},
		mistake{what: "a database that is not there", url: with(admin, plain.Addr, "nowhere"),
			says: []string{"nowhere"}},
		mistake{what: "no database", url: with(admin, plain.Addr, ""), code: exitUsage, says: []string{"database"}},
		mistake{what: "a user who may not log in", url: with("stranger:wr0ng", plain.Addr, "test"),
			says: []string{"stranger"}},
		mistake{what: "TLS where there is none", url: url + map[string]string{"mariadb": "?tls=true",
			"postgres": "?sslmode=require"}[d.Name], says: []string{"TLS"}},
		mistake{what: "a server that is full", url: d.URL(full.Addr), setup: func(t *testing.T) {
			pool := d.Pool(t, full.Addr)
			for range 12 {
				if c, err := pool.Conn(t.Context()); err == nil {
					t.Cleanup(func() { c.Close() })
				}
			}
		},
			says: []string{"too many (connections|clients)"}},
	)
	return list
}
