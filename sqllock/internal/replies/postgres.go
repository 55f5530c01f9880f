package replies

const (
	migrate     = "create the tables and routines with: holdfast migrate, or sqllock.Migrate"
	whichUser   = "check the user and the password"
	rights      = "grant the user rights on the tables and routines that begin with holdfast, as docs/sql.md lists them"
	primary     = "connect to the primary: a replica, and a server that was demoted, cannot write"
	makeRoom    = "make room on the disk of the server"
	fullServer  = "let fewer programs connect, or allow more connections: "
	serverLog   = "look at the log of the server"
	goneSession = "the server ended this connection; the next request gets another"
)

// Postgres are the replies of PostgreSQL by SQLSTATE, of which two characters name a class:
// https://www.postgresql.org/docs/current/errcodes-appendix.html. An error that is not FATAL ends the transaction
// before anything is committed. What ends the session (08, 57P01) may come after the commit.
var Postgres = Table{
	"08":    {mayHaveHappened, ""}, // connection_exception
	"08P01": {mayHaveHappened, "a proxy such as PgBouncer says so of whatever it ends; look at its log"},
	"0A":    {refused, ""}, // feature_not_supported
	"22":    {refused, ""}, // data_exception
	"23":    {refused, ""}, // integrity_constraint_violation
	"25":    {refused, ""}, // invalid_transaction_state
	"25P03": {mayHaveHappened, ""},
	"25006": {notNow, primary},
	"25P04": {notNow, "raise transaction_timeout"},
	"26":    {refused, ""}, // invalid_sql_statement_name
	"28":    {refused, whichUser},
	"28000": {refused, "check the user, and the line for it in pg_hba.conf of the server"},
	"3D":    {refused, "create the database, or correct its name"},
	"3F":    {refused, migrate},
	"40":    {notNow, ""}, // transaction_rollback
	"40003": {mayHaveHappened, ""},
	"42":    {refused, ""}, // syntax_error_or_access_rule_violation
	"42501": {refused, rights},
	"42703": {refused, migrate},
	"42704": {refused, "upgrade to PostgreSQL 14 or newer: the server lacks a setting"},
	"42883": {refused, migrate},
	"42P01": {refused, migrate},
	"44":    {refused, ""}, // with_check_option_violation
	"53":    {notNow, ""},  // insufficient_resources
	"53100": {notNow, makeRoom},
	"53200": {notNow, "give the server more memory, or raise max_locks_per_transaction if it says so"},
	"53300": {notNow, fullServer + "max_connections, or CONNECTION LIMIT of the user or the database"},
	"54":    {refused, ""}, // program_limit_exceeded
	"55":    {refused, ""}, // object_not_in_prerequisite_state
	"55000": {refused, ""},
	"55006": {notNow, ""},
	"55P03": {notNow, "another session keeps a row or a table locked; look at pg_locks"},
	"57014": {notNow, ""}, // query_canceled
	"57P01": {mayHaveHappened, goneSession},
	"57P02": {mayHaveHappened, "another session of the server crashed; " + serverLog},
	"57P03": {notNow, "the server is starting, stopping or recovering"},
	"57P04": {refused, "create the database, or correct its name"},
	"57P05": {mayHaveHappened, goneSession},
	"58":    {mayHaveHappened, "look at the disk and at the log of the server"}, // system_error
	"P0":    {refused, ""},                                                      // of a trigger
	"XX":    {mayHaveHappened, serverLog},
}
