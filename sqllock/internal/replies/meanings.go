package replies

import (
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

const (
	mayHaveHappened = driver.MayHaveHappened
	notNow          = driver.NotNow
	refused         = driver.Refused
)

const (
	fullServer = "let fewer programs connect, or allow more connections: "
	serverLog  = "look at the log of the server"
)

// A meaning is what some errors of a server mean, and what the user can do about them.
type meaning struct {
	effect driver.Effect
	advice string // "" if the server's words say it
	codes  string
}

// meanings have the errors of MySQL and MariaDB by number, and those of PostgreSQL by SQLSTATE, of which two characters
// stand for a class. What is not in it may have happened. An error of PostgreSQL that is not FATAL ends the transaction
// before anything is committed; what ends the session (08, 57P01) may come after the commit. The codes are those of
// https://mariadb.com/kb/en/mariadb-error-code-reference/,
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html and
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
var meanings = []meaning{
	// ER_CHECKREAD, ER_LOCK_DEADLOCK, ER_TRANSACTION_ROLLBACK_DURING_COMMIT, ER_LOCK_NOWAIT, transaction_rollback,
	// insufficient_resources, object_in_use, query_canceled
	{notNow, "", "1020 1213 3101 3572 40 53 55006 57014"},
	{notNow, "another session keeps a row locked; look at information_schema.innodb_trx", "1205"},
	{notNow, "another session keeps a row or a table locked; look at pg_locks", "55P03"},
	{notNow, "connect to the primary: a replica, and a server that was demoted, cannot write", "1290 1792 1836 25006"},
	{notNow, "let the node join its cluster again, or connect to another one", "1047 3100 3796 3797"},
	{notNow, "the server is starting, stopping or recovering", "57P03"},
	{notNow, "make room on the disk of the server", "1021 1114 3675 53100"},
	{notNow, "give the server more memory", "1041"},
	{notNow, "give the server more memory, or raise max_locks_per_transaction if it says so", "53200"},
	{notNow, "raise innodb_buffer_pool_size", "1206"},
	{notNow, "raise transaction_timeout", "25P04"},
	{notNow, fullServer + "max_connections", "1040"},
	{notNow, fullServer + "max_connections, and the threads that its system lets it have", "1135"},
	{notNow, fullServer + "max_user_connections", "1203"},
	{notNow, fullServer + "max_connections, or CONNECTION LIMIT of the user or the database", "53300"},
	{notNow, "raise what the user may use: ALTER USER ... WITH MAX_USER_CONNECTIONS and others", "1226"},

	// The classes are feature_not_supported, data_exception, integrity_constraint_violation, invalid_transaction_state,
	// invalid_sql_statement_name, syntax_error_or_access_rule_violation, with_check_option_violation,
	// program_limit_exceeded, object_not_in_prerequisite_state, and what a trigger raises.
	{refused, "", "1235 1264 1366 1406 3854 0A 22 23 25 26 42 44 54 55 P0"},
	{refused, "create the tables and routines with: holdfast migrate, or sqllock.Migrate",
		"1054 1146 1305 1318 3F 42703 42883 42P01"},
	{refused, "create the database, or correct its name", "1049 3D 57P04"},
	{refused, "grant the user rights on the tables and routines that begin with holdfast, as docs/sql.md lists them",
		"1044 1142 1143 1227 1370 42501"},
	{refused, "check the user and the password", "1045 1698 28"},
	{refused, "check the user, and the line for it in pg_hba.conf of the server", "28000"},
	{refused, "let the user log in from this host", "1130"},
	{refused, "unblock this host on the server: mariadb-admin flush-hosts, or FLUSH HOSTS", "1129"},
	{refused, "let the user log in with a password that the server takes", "1251 1524"},
	{refused, "let the user set a new password: ALTER USER", "1820"},
	{refused, "the password has expired; set a new one: ALTER USER", "1862"},
	{refused, "unlock the account: ALTER USER ... ACCOUNT UNLOCK", "3118 4151"},
	{refused, "use TLS, as with tls=true in the URL", "3159"},
	{refused, "is it MySQL 8.0, MariaDB 10.6 or newer?", "1064"},
	{refused, "upgrade to PostgreSQL 14 or newer: the server lacks a setting", "42704"},
	{refused, "set log_bin_trust_function_creators to 1", "1418"},
	{refused, "set log_bin_trust_function_creators to 1, or migrate as a user with the right SUPER", "1419"},
	{refused, "set binlog_format to ROW", "1665"},
	{refused, "a table of locks is damaged; " + serverLog, "1034 1194 1195 1712 1932"},

	{mayHaveHappened, "", "25P03 40003"}, // their classes may not
	{mayHaveHappened, "look at the disk and at the log of the server", "1030 1180 58"},
	{mayHaveHappened, "the server is shutting down", "1053"},
	{mayHaveHappened, "the server ended this connection; the next request gets another", "1927 4031 57P01 57P05"},
	{mayHaveHappened, "another session of the server crashed; " + serverLog, "57P02"},
	{mayHaveHappened, "a proxy such as PgBouncer says so of whatever it ends; look at its log", "08P01"},
	{mayHaveHappened, "raise max_statement_time", "1969"},
	{mayHaveHappened, "raise max_execution_time", "3024"},
	{mayHaveHappened, serverLog, "XX"},
}

// meaningOf finds the meaning of a code: its own, or that of its class.
func meaningOf(code string) (class meaning) {
	for _, m := range meanings {
		codes := strings.Fields(m.codes)
		if slices.Contains(codes, code) {
			return m
		}
		if len(code) == stateLength && slices.Contains(codes, code[:classLength]) {
			class = m
		}
	}
	return class
}

// Lengths of an SQLSTATE, and of the part of it that names its class.
const stateLength, classLength = 5, 2
