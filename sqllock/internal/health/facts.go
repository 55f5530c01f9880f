package health

import (
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

const useThePrimary = "connect to the primary: a replica refuses to write, or is overwritten"

// MySQL is what matters of MySQL and MariaDB however locks are kept.
var MySQL = []Fact{
	{versionName, "SELECT VERSION()", func(v string) bool {
		return !strings.HasPrefix(v, "5.") && !strings.HasPrefix(v, "10.5.") && !strings.HasPrefix(v, "10.4.")
	}, driver.Warning, "upgrade to MySQL 8.0, MariaDB 10.6 or newer: older ones are not tested"},
	{"read_only", "SELECT @@GLOBAL.read_only", Is("0", "OFF"), driver.Unsafe, useThePrimary},
	{"super_read_only", "SELECT @@GLOBAL.super_read_only", Is("0", "OFF"), driver.Unsafe, useThePrimary},
	{"innodb_flush_log_at_trx_commit", "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit", Is("1"), driver.Warning,
		"set it to 1: otherwise a power failure may take back locks and tokens that were given"},
	{"autocommit", "SELECT @@SESSION.autocommit", Is("1"), driver.Unsafe,
		"let the proxy keep SET SESSION: otherwise nothing is committed"},
}

// OneWriter is whether a server of MySQL or MariaDB is the only one that writes, with what to do where it may be a node
// of Galera, or is set up for group replication and in a group with several primaries.
func OneWriter(level driver.Level, galera, group string) []Fact {
	const onePrimary = "group_replication_single_primary_mode"
	return []Fact{
		{galeraName, "SELECT @@GLOBAL.wsrep_on", Is("0", "OFF"), level, galera},
		{onePrimary, "SELECT @@GLOBAL." + onePrimary, Is("1", "ON"), level, group},
	}
}

// Postgres is what matters of PostgreSQL however locks are kept.
var Postgres = []Fact{
	{versionName, "SHOW server_version", func(string) bool { return true }, driver.Fine, ""},
	{"pg_is_in_recovery", "SELECT pg_is_in_recovery()::text", Is("false"), driver.Unsafe,
		"connect to the primary: a replica cannot write"},
	{"transaction_read_only", "SHOW transaction_read_only", Is("off"), driver.Unsafe,
		"let this user write, or connect to the primary"},
	{"transaction_isolation", "SHOW transaction_isolation", Is("read committed"), driver.Warning,
		"let the proxy keep SET SESSION: otherwise requests collide, and are repeated"},
	{"fsync", "SHOW fsync", Is("on"), driver.Warning,
		"set it to on: otherwise a power failure may take back locks and tokens that were given"},
	{"synchronous_commit", "SHOW synchronous_commit", func(v string) bool { return v != "off" }, driver.Warning,
		"set it to on: otherwise a crash of the server may take back locks and tokens that were given"},
	{"the number of replicas that are not waited for",
		"SELECT count(*)::text FROM pg_stat_replication WHERE sync_state = 'async'", Is("0"), driver.Warning,
		"a failover to one that lacks the last commits forgets locks: guard what must not be written twice " +
			"with the fencing token, or set synchronous_standby_names"},
}
