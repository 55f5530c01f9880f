package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A suite is some tests of one package.
type suite struct {
	name  string
	where string // the packages
	tests string // those that run; all if empty
}

// narrow is what is run on each version that is not refused: that the driver keeps the contract, and that
// processes see nothing wrong while the server is broken.
var narrow = map[string][]suite{
	"etcd": {
		{"contract", "./etcdlock", "^Test(Driver|Engine)"},
		{"histories", "./systemtest/proof", "^TestProof$/^etcd"},
	},
	"ZooKeeper": {
		{"contract", "./zklock", "^Test(Driver|Engine)"},
		{"histories", "./systemtest/proof", "^TestProof$/^zookeeper"},
	},
	"PostgreSQL": {
		{"contract", "./sqllock/sqltest/postgres", "^TestClaims$/^(contract|begin)$"},
		{"sessions", "./sqllock/sqltest/sessions", "^Test(Driver|TooOld)$/^postgres"},
		{"transactions", "./sqllock/sqltest/transactions", "^TestPostgres$"},
		{"histories", "./systemtest/proof", "^TestProof$/^postgres"},
	},
	"PgBouncer": {
		{"contract", "./sqllock/sqltest/postgres", "^TestPool"},
		{"histories", "./systemtest/proof", "^TestProof$/^pgbouncer"},
	},
	"MariaDB": inMySQL,
	"MySQL":   inMySQL,
	"Redis":   inRedis,
	"Valkey":  inRedis,
}

var inMySQL = []suite{
	{"contract", "./sqllock/sqltest/mariadb", "^TestClaims$/^(contract|begin)$"},
	{"sessions", "./sqllock/sqltest/sessions", "^TestDriver$/^mariadb"},
	{"transactions", "./sqllock/sqltest/transactions", "^TestMariaDB$"},
	{"histories", "./systemtest/proof", "^TestProof$/^mariadb"},
}

var inRedis = []suite{
	{"contract", "./redislock", "^Test(Driver|SentinelForServer$|ToldVersion$)"},
	{"histories", "./systemtest/proof", "^TestProof$/^(redis|sentinel|redlock)"},
}

// whole are all tests of what a server of another make serves, and what processes see, by the version's name.
var whole = map[string][]suite{
	"mysql-9": {
		{"drivers", "./sqllock/sqltest/mariadb", ""},
		{"ShedLock", "./sqllock/sqltest/shedlock", ""},
		{"sessions", "./sqllock/sqltest/sessions", ""},
		{"transactions", "./sqllock/sqltest/transactions", ""},
		{"histories", "./systemtest/proof", "^TestProof$/^mariadb"},
	},
	"valkey-8.0": {
		{"drivers", "./redislock/...", ""},
		{"fence", "./fence/redisfence", ""},
		{"histories", "./systemtest/proof", "^TestProof$/^(redis|sentinel|redlock)"},
	},
	"pgbouncer-1.24": {
		{"drivers", "./sqllock/sqltest/postgres", ""},
		{"histories", "./systemtest/proof", "^TestProof$/^pgbouncer"},
	},
}

// refusal is what is run on a version that is too old.
var refusal = map[string]suite{
	"Redis":   {"refusal", "./redislock", "^TestTooOld$"},
	"MariaDB": {"refusal", "./sqllock/sqltest/mariadb", "^TestTooOld$"},
}

// starts is run on each version first: that it is what runs.
var starts = suite{"starts", "./internal/servers", "^TestInPlace$"}

// suites are what is run on a version.
func suites(v servers.Version) []suite {
	list, all := whole[v.Name]
	switch {
	case v.Standing == servers.Refused:
		list = []suite{refusal[v.Engine]}
	case !all:
		list = narrow[v.Engine]
	}
	return append([]suite{starts}, list...)
}

// run runs a suite with a version in place of the usual one.
func (s suite) run(version string, out io.Writer) error {
	args := []string{"-timeout", "60m"}
	if s.tests != "" {
		args = append(args, "-run", s.tests)
	}
	fmt.Fprintf(out, "=== %s: %s %s\n", s.name, s.where, s.tests)
	env := []string{"HOLDFAST_EXTRA=" + version, "HOLDFAST_LONG=1"}
	return command(out, env, "bin/runtests", append(args, "--", s.where)...)
}

// number is the version in what a server tells.
var number = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// unpack puts a version where tests find it, and returns what it says of itself.
func unpack(v servers.Version, out io.Writer) (string, error) {
	if err := command(out, nil, "sh", "scripts/servers-extra.sh", v.Name); err != nil {
		return "", fmt.Errorf("not to be had: %w", err)
	}
	program, err := v.Program()
	if err != nil {
		return "", fmt.Errorf("not to be had: %w", err)
	}
	said, err := exec.Command(program, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("it does not run: %w", err)
	}
	found := number.Find(bytes.ReplaceAll(said, []byte(filepath.Dir(program)), nil)) // that has a number of its own
	if found == nil {
		return "", errors.New("it does not tell its version")
	}
	return string(found), nil
}

func command(out io.Writer, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), env...)
	return cmd.Run()
}
