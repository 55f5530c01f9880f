package servers

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Standing is what is known of a version.
type Standing string

// What a version may be.
const (
	Usual    Standing = "tested by each `make test`"
	Tested   Standing = "tested by `make test-extra`"
	Untested Standing = "should work"
	Refused  Standing = "is too old"
)

// A Version is one of a server.
type Version struct {
	Name     string // as HOLDFAST_EXTRA has it; empty for one that `make test-extra` does not start
	Engine   string // as readers know it
	Number   string // exact if it is tested, as the server tells it; what a system's packages bring has no third part
	Standing Standing
	From     string // who packages it; empty for one that is not to be had
	program  string // what runs, or tells the version
}

// The engines.
const (
	etcd       = "etcd"
	zooKeeper  = "ZooKeeper"
	postgreSQL = "PostgreSQL"
	pgBouncer  = "PgBouncer"
	mariaDB    = "MariaDB"
	mySQL      = "MySQL"
	redis      = "Redis"
	valkey     = "Valkey"
)

// Who packages servers.
const (
	debian11     = "Debian 11"
	debian12     = "Debian 12"
	backported   = "Debian 12 backports"
	debian13     = "Debian 13"
	unstable     = "Debian unstable"
	experimental = "Debian experimental"
	goModules    = "Go modules"
	npm          = "npm"
)

// Versions are all that the pages claim, and those that are known to be too old. docs/versions.md shows them. Where
// scripts/servers-extra.sh finds a newer one than it says here, `make test-extra` tells so.
var Versions = []Version{
	{"", etcd, "3.7.3", Usual, goModules, ""},
	{"etcd-3.6", etcd, "3.6.16", Tested, goModules, "etcd"},
	{"etcd-3.5", etcd, "3.5.16", Tested, debian13, "etcd"},
	{"etcd-3.4", etcd, "3.4.23", Tested, debian12, "etcd"},

	{"postgres-18", postgreSQL, "18.4", Tested, npm, "postgres"},
	{"postgres-17", postgreSQL, "17.10", Tested, npm, "postgres"},
	{"postgres-16", postgreSQL, "16.14", Tested, npm, "postgres"},
	{"", postgreSQL, "15", Usual, debian12, ""},
	{"postgres-14", postgreSQL, "14.23", Tested, npm, "postgres"},
	{"postgres-13", postgreSQL, "13.23", Tested, npm, "postgres"},
	{"postgres-12", postgreSQL, "12.22", Tested, npm, "postgres"},

	{"pgbouncer-1.26", pgBouncer, "1.26.1", Tested, unstable, "pgbouncer"},
	{"pgbouncer-1.24", pgBouncer, "1.24.1", Tested, debian13, "pgbouncer"},
	{"", pgBouncer, "1.18", Usual, debian12, ""},

	{"mariadb-11.8", mariaDB, "11.8.9", Tested, debian13, "mariadbd"},
	{"", mariaDB, "10.11", Usual, debian12, ""},
	{"", mariaDB, "10.6", Untested, "", ""},
	{"mariadb-10.5", mariaDB, "10.5.23", Refused, debian11, "mariadbd"},

	{"mysql-9", mySQL, "9.7.4", Tested, unstable, "mysqld"},
	{"", mySQL, "8.0, 8.4", Untested, "", ""},

	{"redis-8.6", redis, "8.6.3", Tested, experimental, "redis-server"},
	{"redis-8.0", redis, "8.0.2", Tested, debian13, "redis-server"},
	{"", redis, "7.2, 7.4", Untested, "", ""},
	{"", redis, "7.0", Usual, debian12, ""},
	{"redis-6.0", redis, "6.0.16", Refused, debian11, "redis-server"},

	{"valkey-9.1", valkey, "9.1.2", Tested, unstable, "valkey-server"},
	{"valkey-8.1", valkey, "8.1.1", Tested, debian13, "valkey-server"},
	{"valkey-8.0", valkey, "8.0.1", Tested, backported, "valkey-server"},

	{"zookeeper-3.9", zooKeeper, "3.9.3", Tested, debian13, "zookeeper"},
	{"", zooKeeper, "3.8", Usual, debian12, ""},
	{"", zooKeeper, "3.5, 3.6, 3.7", Untested, "", ""},
}

// inPlace is the variable that names the versions to start in place of the usual ones, with commas between.
const inPlace = "HOLDFAST_EXTRA"

// installExtra installs what is started then.
const installExtra = "make servers-extra"

// inPlaceOf returns the version to start in place of an engine's usual one.
func inPlaceOf(engine string) (Version, bool) {
	i := slices.IndexFunc(chosen(), func(v Version) bool { return v.Engine == engine })
	if i < 0 {
		return Version{}, false
	}
	return chosen()[i], true
}

// chosen are the versions that HOLDFAST_EXTRA names. It panics on a name that there is not, because tests would pass on
// another version than was asked for.
var chosen = sync.OnceValue(func() (list []Version) {
	for name := range strings.SplitSeq(os.Getenv(inPlace), ",") {
		if name == "" {
			continue
		}
		v, ok := Named(name)
		if !ok {
			panic(fmt.Sprintf("%s names %q, which is no version in internal/servers/versions.go", inPlace, name))
		}
		list = append(list, v)
	}
	return list
})

// Named finds a version by its name.
func Named(name string) (Version, bool) {
	i := slices.IndexFunc(Versions, func(v Version) bool { return v.Name == name })
	if i < 0 || name == "" {
		return Version{}, false
	}
	return Versions[i], true
}

// Program is the path of what runs the server, which is built if it is to be built. The version is told by what runs
// with --version.
func (v Version) Program() (string, error) {
	if v.From == goModules {
		folder, err := buildEtcd(v.module())
		return filepath.Join(folder, v.program), err
	}
	return v.path(v.program), nil
}

// module is the folder of the module that pins the version.
func (v Version) module() string {
	return path.Join(etcdBuild, strings.TrimPrefix(v.Name, "etcd-"))
}

// path is where scripts/servers-extra.sh puts one of the version's files.
func (v Version) path(file string) string {
	home, err := extraHome()
	if err != nil {
		return file // which is looked for on the PATH
	}
	return filepath.Join(home, v.Name, file)
}

// extraHome is where scripts/servers-extra.sh puts programs.
func extraHome() (string, error) {
	cache, err := os.UserCacheDir()
	if os.Getenv("XDG_CACHE_HOME") == "" && os.Getuid() == 0 {
		cache, err = "/var/cache", nil // PostgreSQL runs as another user, who may not look into root's own folder
	}
	return filepath.Join(cache, "holdfast", "extra"), err
}
