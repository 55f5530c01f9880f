//go:build linux

package main

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// An engine says how a quickstart starts its server.
type engine struct {
	unit    string   // what systemd calls it
	untried []string // packages that our tests do not install
	image   string   // what containers run
	data    string   // where the image keeps what must stay
	folders []string // what its package makes

	begin   func(t *testing.T, d *desk)                   // what is there before the page
	snippet func(t *testing.T, d *desk, content string)   // what to do with Go that is no program
	restart func(t *testing.T, d *desk)                   // starts the server, or starts it again, as its files are
	compose func(t *testing.T, d *desk, file composeFile) // starts what a compose file has
}

var engines = map[string]engine{
	"file": {folders: []string{"var/lib"}},
	"redis": {
		unit: "redis-server", image: "redis:7", data: "/data", folders: []string{"etc/redis"},
		restart: restartRedis, compose: composeRedis,
	},
	"redlock": {image: "redis:7", data: "/data", compose: composeRedlock},
	"mysql": {
		unit: "mariadb", image: "mariadb:11", data: "/var/lib/mysql", folders: []string{"etc/mysql/mariadb.conf.d"},
		restart: restartMariaDB, compose: composeMariaDB,
	},
	"postgres": {
		unit: "postgresql", image: "postgres:17", data: "/var/lib/postgresql/data", folders: []string{"etc/postgresql"},
		restart: restartPostgres, compose: composePostgres,
	},
	"etcd": {
		unit: "etcd", image: "quay.io/coreos/etcd:v3.5.21", data: "/data", folders: []string{"etc/default"},
		untried: []string{"etcd-server", "etcd-client"}, restart: restartEtcd, compose: composeEtcd,
	},
	"zookeeper": {
		unit: "zookeeper", image: "zookeeper:3.9", data: "/data", folders: []string{"etc/zookeeper/conf"},
		untried: []string{"zookeeperd"}, restart: restartZooKeeper, compose: composeZooKeeper,
	},
}

func restartRedis(t *testing.T, d *desk) {
	var args []string
	encrypted := ""
	for _, line := range d.read(t, "etc/redis/redis.conf") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "port": // stays, so that the test can ask whether the server is there
			continue
		case "tls-port":
			encrypted = freePort(t)
			value = encrypted
		}
		args = append(args, "--"+key, value)
	}
	d.server = servers.Redis(t, args...)
	d.port("6379", cmp.Or(encrypted, d.server.Port()))
}

func composeRedis(t *testing.T, d *desk, file composeFile) {
	d.server = servers.Redis(t, argumentsOf(t, file.only(t, "redis", "6379"), "redis-server")...)
	d.port("6379", d.server.Port())
}

func composeRedlock(t *testing.T, d *desk, file composeFile) {
	d.services = make(map[string]*servers.Server)
	for name, service := range file.Services {
		port := "700" + strings.TrimPrefix(name, "redis")
		if !slices.Equal(service.Ports, []string{"127.0.0.1:" + port + ":6379"}) {
			t.Errorf("%s has the ports %q", name, service.Ports)
		}
		d.services[name] = servers.Redis(t, argumentsOf(t, service, "redis-server")...)
		d.port(port, d.services[name].Port())
	}
}

// argumentsOf returns what a service gives to its program.
func argumentsOf(t *testing.T, service composeService, program string) []string {
	t.Helper()
	args := strings.Fields(service.Command)
	if len(args) == 0 || args[0] != program {
		t.Fatalf("the command is %q, not %s", args, program)
	}
	return args[1:]
}

// mariadb and psql are the tools of the page, at the server of the test.
const (
	mariadb = `exec /usr/bin/mariadb --no-defaults --protocol=tcp -h 127.0.0.1 -u root -P `
	psql    = `exec /usr/bin/psql -h 127.0.0.1 -U postgres -p `
)

func restartMariaDB(t *testing.T, d *desk) {
	var args []string
	for _, line := range d.read(t, "etc/mysql/mariadb.conf.d/90-tls.cnf") {
		args = append(args, "--"+line)
	}
	if args != nil {
		d.server.Stop(t)
		d.server.RestartWith(t, args...)
		return
	}
	d.server = servers.MariaDB(t)
	d.port("3306", d.server.Port())
	d.program(t, "mariadb", mariadb+d.server.Port()+` "$@"`)
}

// composeMariaDB does what the image does with these variables.
func composeMariaDB(t *testing.T, d *desk, file composeFile) {
	env := environment(t, file.only(t, "mariadb", "3306"), "MARIADB_DATABASE", "MARIADB_USER", "MARIADB_PASSWORD",
		"MARIADB_RANDOM_ROOT_PASSWORD")
	restartMariaDB(t, d)
	d.do(t, exchange{command: fmt.Sprintf(`mariadb -e "CREATE DATABASE %[1]s;`+
		` CREATE USER %[2]s@'%%' IDENTIFIED BY '%[3]s'; GRANT ALL ON %[1]s.* TO %[2]s"`, env[0], env[1], env[2])})
	d.migrate(t)
}

func restartPostgres(t *testing.T, d *desk) {
	if d.service {
		d.server.Stop(t)
		d.server.Restart(t)
		return
	}
	d.service = true
	startPostgres(t, d)
}

// startPostgres starts a server that lets its superuser in, and asks all others for their passwords.
func startPostgres(t *testing.T, d *desk) {
	rules := filepath.Join(d.root, "etc/postgresql/pg_hba.conf")
	allow(t, d.root)
	text := "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(rules, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d.server = servers.Postgres(t, "-c", "hba_file="+rules)
	d.port("5432", d.server.Port())
	d.program(t, "psql", psql+d.server.Port()+` "$@"`)
}

// allow lets the user of a server through to a folder.
func allow(t *testing.T, folder string) {
	t.Helper()
	for _, f := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// composePostgres does what the image does with these variables.
func composePostgres(t *testing.T, d *desk, file composeFile) {
	env := environment(t, file.only(t, "postgres", "5432"), "POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD")
	startPostgres(t, d)
	d.do(t, exchange{command: fmt.Sprintf(`psql -q -c "CREATE ROLE %[2]s SUPERUSER LOGIN PASSWORD '%[3]s'"`+
		` -c 'CREATE DATABASE %[1]s OWNER %[2]s'`, env[0], env[1], env[2])})
	d.migrate(t)
}

// environment returns the values of these variables, of which the service has no others.
func environment(t *testing.T, service composeService, names ...string) (values []string) {
	t.Helper()
	for _, name := range names {
		values = append(values, service.Environment[name])
	}
	if len(service.Environment) != len(names) || slices.Contains(values, "") {
		t.Errorf("the environment is %v, want %q", service.Environment, names)
	}
	return values
}

func restartEtcd(t *testing.T, d *desk) {
	var args []string
	encrypted := ""
	for _, line := range d.read(t, "etc/default/etcd") {
		key, value, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, "ETCD_"), "_", "-"))
		if key == "listen-client-urls" || key == "advertise-client-urls" {
			encrypted = cmp.Or(encrypted, freePort(t))
			if value != "https://"+d.server.Addr {
				t.Errorf("%s is %s", key, value)
			}
			value = "http://" + d.server.Addr + ",https://127.0.0.1:" + encrypted // the test asks without TLS
		}
		args = append(args, "--"+key+"="+value)
	}
	if encrypted != "" {
		d.server.Stop(t)
		d.server.RestartWith(t, args...)
		d.port("2379", encrypted)
		return
	}
	d.startEtcd(t, args)
}

func (d *desk) startEtcd(t *testing.T, args []string) {
	t.Helper()
	d.server = servers.Etcd(t, args...)
	d.port("2379", d.server.Port())
	program := servers.Etcdctl(t, nil).Path
	d.program(t, "etcdctl", "exec "+program+" --endpoints "+d.server.Addr+` "$@"`)
}

func composeEtcd(t *testing.T, d *desk, file composeFile) {
	var args []string
	for flag := range slices.Chunk(argumentsOf(t, file.only(t, "etcd", "2379"), "etcd"), 2) {
		switch flag[0] {
		case "--data-dir", "--listen-client-urls", "--advertise-client-urls": // are the test's own
		default:
			args = append(args, flag...)
		}
	}
	d.startEtcd(t, args)
}

func restartZooKeeper(t *testing.T, d *desk) {
	var lines []string
	secure := ""
	for _, line := range d.read(t, "etc/zookeeper/conf/zoo.cfg") {
		if port, ok := strings.CutPrefix(line, "secureClientPort="); ok {
			secure = freePort(t)
			d.port(port, secure)
			line = "secureClientPort=" + secure
		}
		lines = append(lines, line)
	}
	d.server = servers.ZooKeeper(t, lines...)
	d.port("2181", d.server.Port())
	if secure != "" {
		waitForTLS(t, "127.0.0.1:"+secure)
	}
}

// waitForTLS waits until a server has spoken TLS once: in Java the first time takes long.
func waitForTLS(t *testing.T, addr string) {
	t.Helper()
	dialer := &net.Dialer{Timeout: 20 * time.Second}
	for deadline := time.Now().Add(4 * time.Minute); ; {
		conn, err := tls.DialWithDialer(dialer, "tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no TLS at %s: %v", addr, err)
		}
	}
}

func composeZooKeeper(t *testing.T, d *desk, file composeFile) {
	environment(t, file.only(t, "zookeeper", "2181"))
	restartZooKeeper(t, d)
}

// migrate makes the tables in the database of the page.
func (d *desk) migrate(t *testing.T) {
	t.Helper()
	d.do(t, exchange{"HOLDFAST_BACKEND=" + d.url + " holdfast migrate", "..."})
}

// freePort returns a port on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	_, port, _ := net.SplitHostPort(servers.FreeAddr(t))
	return port
}
