package replies

const (
	fullDisk   = makeRoom
	readOnly   = primary
	outOfGroup = "let the node join its cluster again, or connect to another one"
	damaged    = "a table of locks is damaged; " + serverLog
	remakeUser = "let the user log in with a password that the server takes"
)

// MySQL are the replies of MySQL and MariaDB by number: https://mariadb.com/kb/en/mariadb-error-code-reference/ and
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html.
var MySQL = Table{
	"1020": {notNow, ""}, // ER_CHECKREAD: the row has changed since
	"1021": {notNow, fullDisk},
	"1030": {mayHaveHappened, "look at the disk and at the log of the server"},
	"1034": {refused, damaged},
	"1040": {notNow, fullServer + "max_connections"},
	"1041": {notNow, "give the server more memory"},
	"1044": {refused, rights},
	"1045": {refused, whichUser},
	"1047": {notNow, outOfGroup},
	"1049": {refused, "create the database, or correct its name"},
	"1053": {mayHaveHappened, "the server is shutting down"},
	"1054": {refused, migrate},
	"1064": {refused, "is it MySQL 8.0, MariaDB 10.6 or newer?"},
	"1114": {notNow, fullDisk},
	"1129": {refused, "unblock this host on the server: mariadb-admin flush-hosts, or FLUSH HOSTS"},
	"1130": {refused, "let the user log in from this host"},
	"1135": {notNow, fullServer + "max_connections, and the threads that its system lets it have"},
	"1142": {refused, rights},
	"1143": {refused, rights},
	"1146": {refused, migrate},
	"1180": {mayHaveHappened, "look at the disk and at the log of the server"},
	"1194": {refused, damaged},
	"1195": {refused, damaged},
	"1203": {notNow, fullServer + "max_user_connections"},
	"1205": {notNow, "another session keeps a row locked; look at information_schema.innodb_trx"},
	"1206": {notNow, "raise innodb_buffer_pool_size"},
	"1213": {notNow, ""}, // ER_LOCK_DEADLOCK
	"1226": {notNow, "raise what the user may use: ALTER USER ... WITH MAX_USER_CONNECTIONS and others"},
	"1227": {refused, rights},
	"1235": {refused, ""},
	"1251": {refused, remakeUser},
	"1264": {refused, ""},
	"1290": {notNow, readOnly},
	"1305": {refused, migrate},
	"1317": {mayHaveHappened, ""}, // ER_QUERY_INTERRUPTED
	"1318": {refused, migrate},
	"1366": {refused, ""},
	"1370": {refused, rights},
	"1406": {refused, ""},
	"1418": {refused, "set log_bin_trust_function_creators to 1"},
	"1419": {refused, "set log_bin_trust_function_creators to 1, or migrate as a user with the right SUPER"},
	"1524": {refused, remakeUser},
	"1665": {refused, "set binlog_format to ROW"},
	"1698": {refused, whichUser},
	"1712": {refused, damaged},
	"1792": {notNow, readOnly},
	"1820": {refused, "let the user set a new password: ALTER USER"},
	"1836": {notNow, readOnly},
	"1862": {refused, "the password has expired; set a new one: ALTER USER"},
	"1927": {mayHaveHappened, goneSession},
	"1932": {refused, damaged},
	"1969": {mayHaveHappened, "raise max_statement_time"},
	"3024": {mayHaveHappened, "raise max_execution_time"},
	"3100": {notNow, outOfGroup},
	"3101": {notNow, ""}, // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
	"3118": {refused, "unlock the account: ALTER USER ... ACCOUNT UNLOCK"},
	"3159": {refused, "use TLS, as with tls=true in the URL"},
	"3572": {notNow, ""}, // ER_LOCK_NOWAIT
	"3675": {notNow, fullDisk},
	"3796": {notNow, outOfGroup},
	"3797": {notNow, outOfGroup},
	"3854": {refused, ""},
	"4031": {mayHaveHappened, goneSession},
	"4151": {refused, "unlock the account: ALTER USER ... ACCOUNT UNLOCK"},
}
