//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A visit is what doctor must make of a backend after something about it was changed.
type visit struct {
	name   string
	change func(*testing.T) // nil for nothing
	url    string
	code   int
	says   []string // level and part of a fact
}

const fine, warning, unsafe = 0, 1, 2

// visits makes visits one after the other.
func visits(t *testing.T, all []visit) {
	for _, v := range all {
		t.Run(v.name, func(t *testing.T) {
			if v.change != nil {
				v.change(t)
			}
			v.test(t)
		})
	}
}

func (v visit) test(t *testing.T) {
	code, d := examine(t, v.url)
	want := max(v.code, d.faults())
	verdict := verdicts[want]
	if code != want || d.Verdict != verdict {
		t.Errorf("exit code %d, verdict %q, want %d and %q", code, d.Verdict, want, verdict)
	}
	for _, want := range v.says {
		if !d.says(want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, f := range d.Findings {
		if (f.Level == "ok") != (f.Advice == "") {
			t.Errorf("what is not well needs advice, and nothing else does: %+v", f)
		}
	}
	if t.Failed() {
		t.Logf("%+v", d)
	}
}

var verdicts = []string{"ok", "warning", "unsafe"}

// faults is the worst level of the known faults of the servers' version.
func (d diagnosis) faults() (worst int) {
	for _, f := range d.Findings {
		if strings.Contains(f.Fact, "has a known fault") {
			worst = max(worst, slices.Index(verdicts, f.Level))
		}
	}
	return worst
}

// examine runs holdfast doctor --json.
func examine(t *testing.T, url string) (code int, d diagnosis) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	file := filepath.Join(t.TempDir(), "url") // which may have a password
	if err := os.WriteFile(file, []byte(url), 0o600); err != nil {
		t.Fatal(err)
	}
	code = run(t.Context(), []string{"doctor", "--json", "--backend-file", file}, streams{out: out, err: os.Stderr})
	text, err := os.ReadFile(out.Name())
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return code, d
}

// says reports whether there is a finding of this level and fact.
func (d diagnosis) says(want string) bool {
	for _, f := range d.Findings {
		if strings.Contains(f.Level+": "+f.Fact, want) {
			return true
		}
	}
	return false
}

func TestDoctorOnRedis(t *testing.T) {
	t.Parallel()
	s, other := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always"), servers.Redis(t)
	set := func(values ...string) func(*testing.T) {
		return func(t *testing.T) { s.RedisCommand(t, append([]string{"CONFIG", "SET"}, values...)...) }
	}
	follow := func(t *testing.T) {
		host, port, _ := net.SplitHostPort(other.Addr)
		s.RedisCommand(t, "REPLICAOF", host, port)
	}
	url := "redis://" + s.Addr
	visits(t, []visit{
		{"safe", nil, url, fine, []string{"ok: the server's version is", "ok: a lock was taken",
			"ok: the server's clock and ours agree", "ok: maxmemory-policy is noeviction"}},
		{"no disk", nil, "redis://" + other.Addr, warning, []string{"warning: appendonly is no"}},
		{"a second is lost", set("appendfsync", "everysec"), url, warning,
			[]string{"warning: appendonly is yes, appendfsync is everysec"}},
		{"may evict", set("appendfsync", "always", "maxmemory-policy", "allkeys-lru"), url, warning,
			[]string{"warning: maxmemory-policy is allkeys-lru, without maxmemory"}},
		{"evicts", set("maxmemory", "100mb", "maxmemory-policy", "volatile-lru"), url, unsafe,
			[]string{"unsafe: maxmemory-policy is volatile-lru"}},
		{"replica", follow, url, unsafe, []string{"unsafe: it was not possible to take a lock",
			"unsafe: the server is a replica"}},
		{"away", killed(s), url, unsafe, []string{"unsafe: the backend cannot be used"}},
	})
}

func TestDoctorOnRedlock(t *testing.T) {
	t.Parallel()
	var all []*servers.Server
	var addrs []string
	for range 4 {
		s := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
		all, addrs = append(all, s), append(addrs, s.Addr)
	}
	four, three := "redlock://"+strings.Join(addrs, ",")+"?maxttl=10s", "redlock://"+strings.Join(addrs[:3],
		",")+"?maxttl=10s"
	visits(t, []visit{
		{"even", func(t *testing.T) { awaitLock(t, four) }, four, warning,
			[]string{"warning: 4 servers vote, of which 1 may fail"}},
		{"safe", nil, three, fine, []string{"ok: 3 servers vote, of which 1 may fail", "appendfsync is always"}},
		{"one away", killed(all[0]), three, warning, []string{"warning: it was not possible to examine"}},
		{"most away", killed(all[1]), three, unsafe, []string{"unsafe: the backend cannot be used"}},
	})
}

// awaitLock waits until new clients are granted locks: servers that have just started, or that elect, do not do that at
// once.
func awaitLock(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := tryLock(ctx, url)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func tryLock(ctx context.Context, url string) error {
	client, err := holdfast.Open(ctx, url)
	if err != nil {
		return err
	}
	defer client.Close(ctx)
	_, err = client.Mutex("ready", holdfast.WithTTL(2*time.Second)).TryLock(ctx)
	return err
}

// killed lets a server crash.
func killed(s *servers.Server) func(*testing.T) { return func(t *testing.T) { s.Kill(t) } }

func TestDoctorOnEtcd(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	url := "etcd://" + list(cluster)
	visits(t, []visit{
		{"safe", nil, url, fine, []string{"runs etcd 3.", "ok: the cluster has 3 members", "ok: a lock was taken"}},
		{"one away", func(t *testing.T) { cluster[0].Kill(t); awaitLock(t, url) }, url, warning,
			[]string{"warning: " + cluster[0].Addr + " does not answer", "ok: a lock was taken"}},
		{"without a majority", killed(cluster[1]), url, unsafe, []string{"unsafe: the backend cannot be used"}},
		{"alone", nil, "etcd://" + servers.Etcd(t).Addr, warning, []string{"warning: the cluster has 1 members"}},
	})
}

// Etcd tells no time, so nothing is known of its clocks.
func TestDoctorKnowsNoClockOfEtcd(t *testing.T) {
	t.Parallel()
	if _, d := examine(t, "etcd://"+servers.Etcd(t).Addr); !d.says("a lock was taken") || d.says("clock") {
		t.Errorf("%+v", d)
	}
}

func list(all []*servers.Server) string {
	var addrs []string
	for _, s := range all {
		addrs = append(addrs, s.Addr)
	}
	return strings.Join(addrs, ",")
}

func TestDoctorOnZooKeeper(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	url := "zk://" + list(ensemble)
	slow := servers.ZooKeeper(t, "tickTime=6000", "maxSessionTimeout=12000")
	long := servers.ZooKeeper(t, "minSessionTimeout=20000", "maxSessionTimeout=60000")
	visits(t, []visit{
		{"safe", nil, url, fine, []string{"runs ZooKeeper 3.", "has ticks of", "ok: the ensemble has 3 members",
			"ok: claims may live for"}},
		{"one away", func(t *testing.T) { ensemble[0].Kill(t); awaitLock(t, url) }, url, warning,
			[]string{"warning: " + ensemble[0].Addr + " does not answer", "ok: a lock was taken"}},
		{"slow", nil, "zk://" + slow.Addr, warning,
			[]string{"has ticks of 6s", "warning: claims may live for up to", "warning: the ensemble has 1 members"}},
		{"long sessions", nil, "zk://" + long.Addr, warning,
			[]string{"warning: " + long.Addr + " keeps sessions for 20s or more"}},
	})
}

func TestDoctorOnMariaDB(t *testing.T) {
	t.Parallel()
	s := servers.MariaDB(t, "--innodb-flush-log-at-trx-commit=1", "--log-bin=log")
	galera := servers.MariaDB(t, "--wsrep-on=ON", "--binlog-format=ROW")
	url, node := "mysql://root@"+s.Addr+"/test", "mysql://root@"+galera.Addr+"/test"
	migrate(t, url)
	migrate(t, node)
	with := func(settings string) func(*testing.T) {
		return func(t *testing.T) { execute(t, "mysql", "root@tcp("+s.Addr+")/test", "SET GLOBAL "+settings) }
	}
	visits(t, []visit{
		{"safe", nil, url, fine, []string{
			"ok: the server's version is", "ok: the server's clock and ours agree", "ok: autocommit is 1",
			"isolation is READ-COMMITTED", "ok: read_only is", "ok: wait_timeout is", "ok: wsrep_on is 0",
		}},
		{"safe with sessions", nil, url + "?mode=session", fine, []string{
			"ok: the server's version is", "ok: the server's clock and ours agree", "ok: a connection has a session",
			"ok: the idle timeout of a session for a minute is 60",
		}},
		{"defaults that are not used", with("autocommit = 0, tx_isolation = 'SERIALIZABLE'"), url, fine,
			[]string{"ok: autocommit is 1", "isolation is READ-COMMITTED"}},
		{"not on disk", with("innodb_flush_log_at_trx_commit = 2"), url, warning,
			[]string{"warning: innodb_flush_log_at_trx_commit is 2"}},
		{"impatient", with("innodb_flush_log_at_trx_commit = 1, wait_timeout = 20"), url, warning,
			[]string{"warning: wait_timeout is 20"}},
		{"galera", nil, node, warning, []string{"warning: wsrep_on is 1"}},
		{"galera with sessions", nil, node + "?mode=session", unsafe, []string{"unsafe: wsrep_on is 1"}},
		{"statements in the log", with("binlog_format = STATEMENT"), url, unsafe,
			[]string{"unsafe: binlog_format is STATEMENT"}},
		{"read only", with("binlog_format = ROW, read_only = 1"), url, unsafe, []string{"unsafe: read_only is 1"}},
	})
}

func TestDoctorOnPostgres(t *testing.T) {
	t.Parallel()
	s := servers.Postgres(t, "-c", "fsync=on")
	database := func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" }
	url, pool := database(s.Addr), database(servers.PgBouncer(t, s, "transaction").Addr)
	forgetful := servers.Postgres(t, "-c", "synchronous_commit=off") // and fsync
	migrate(t, url)
	migrate(t, database(forgetful.Addr))
	with := func(setting string) func(*testing.T) {
		return func(t *testing.T) { execute(t, "pgx", url, "ALTER DATABASE postgres SET "+setting) }
	}
	visits(t, []visit{
		{"safe", nil, url, fine, []string{
			"ok: the server's version is", "ok: the server's clock and ours agree", "ok: a connection has a session",
			"ok: pg_is_in_recovery is false", "ok: idle_session_timeout is 0",
		}},
		{"safe with sessions", nil, url + "&mode=session", fine, []string{
			"ok: the server's version is", "ok: the server's clock and ours agree", "ok: a connection has a session",
			"ok: the idle timeout of a session for a minute is 1min",
		}},
		{"pooled", nil, pool, warning, []string{"warning: connections share sessions"}},
		{"pooled with sessions", nil, pool + "&mode=session", unsafe,
			[]string{"a proxy gives each transaction another session"}},
		{"idle timeout that is not used", with("idle_session_timeout = '1s'"), url, fine,
			[]string{"ok: idle_session_timeout is 0"}},
		{"isolation that is not used", with("default_transaction_isolation = 'serializable'"), url, fine,
			[]string{"ok: transaction_isolation is read committed"}},
		{"not on disk", nil, database(forgetful.Addr), warning,
			[]string{"warning: fsync is off", "warning: synchronous_commit is off"}},
		{"read only", with("default_transaction_read_only = on"), url, unsafe,
			[]string{"unsafe: transaction_read_only is on"}},
	})
}

func migrate(t *testing.T, url string) {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, driver, source, statement string) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestDoctorOnFile(t *testing.T) {
	folder := t.TempDir()
	visits(t, []visit{
		{"safe", nil, "file:" + filepath.Join(folder, "locks.db"), fine, []string{
			"ok: SQLite is 3.", "locks.db is on a local file system", "ok: journal_mode is wal",
			"ok: synchronous, for what outlives a boot, is 2", "ok: the server's clock and ours agree",
		}},
		{"nowhere", nil, "file:" + filepath.Join(folder, "missing", "locks.db"), unsafe,
			[]string{"unsafe: the backend cannot be used"}},
	})
}

// A server that cuts us off, or refuses us by a word of its own, is no fault of the command line, and doctor finds it.
func TestServerThatTakesNobody(t *testing.T) {
	t.Parallel()
	full, closing := listenAndSay(t, "-ERR max number of clients reached\r\n"), listenAndSay(t, "")
	for url, want := range map[string]int{
		"redis://" + full:                   exitUnavailable,
		"redis://" + full + "?bogus=1":      exitUsage,
		"redis-sentinel://" + full + "/m":   exitUnavailable,
		"redis-sentinel://" + full:          exitUsage,
		"mysql://root@" + closing + "/db":   exitUnavailable,
		"mysql://root@" + closing:           exitUsage,
		"postgres://us@" + closing + "/db":  exitUnavailable,
		"postgres://us@" + closing + "/?a=": exitUsage,
	} {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		ok(t, err)
		defer null.Close()
		ended := func(verb string) int {
			return run(t.Context(), []string{verb, "--backend", url}, streams{out: null, err: null})
		}
		if code := ended("ls"); code != want {
			t.Errorf("ls %s ended with %d, want %d", url, code, want)
		}
		if code := ended("migrate"); code != want && !strings.HasPrefix(url, "redis") { // which needs none
			t.Errorf("migrate %s ended with %d, want %d", url, code, want)
		}
		if code := ended("doctor"); code != map[int]int{exitUnavailable: unsafe, exitUsage: exitUsage}[want] {
			t.Errorf("doctor %s ended with %d", url, code)
		}
	}
}

// listenAndSay is a server that answers whatever it is asked first. One that has nothing to say closes connections at
// once, as a proxy does that has no server behind it.
func listenAndSay(t *testing.T, words string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(conn, words)
		}
	}()
	return listener.Addr().String()
}

func answerAll(conn net.Conn, words string) {
	defer conn.Close()
	asked := make([]byte, 4096)
	for words != "" {
		n, err := conn.Read(asked)
		if err != nil {
			return
		}
		for range bytes.Count(asked[:n], []byte("*")) {
			io.WriteString(conn, words)
		}
	}
}
