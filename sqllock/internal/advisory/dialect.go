package advisory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A Dialect is how to talk to one kind of server. Arguments are literals in the text of a statement, so that it takes
// one round trip: a session lives for one claim only, and it is not worth while to prepare statements.
type Dialect struct {
	Name string // the folder of its .sql files, and what people call it

	literal func(bytes string) string
	key     func(name string) string             // the number or text that the server locks
	held    func(name string) string             // a condition on pg_locks
	refuse  func(name string) error              // of names that have no key; nil where all have one
	rows    string                               // begins the names of locks in the tables
	try     script                               // what asks for a lock without waiting
	ready   func(ttl, wait time.Duration) string // the statement that makes a session ready
	lease   func(ttl time.Duration) string       // the statement that makes a TTL the session's
	now     string                               // the server's clock, in microseconds since 1970
	free    string                               // whether nobody has the lock of a row, of whatever layout

	facts  []health.Fact // what Check looks at
	number string        // a query for the number of the session

	busy    []string // codes of errors: nothing was done, because others were in the way
	missing []string // tables are not there
}

// MySQL is the dialect of MySQL and MariaDB.
var MySQL = &Dialect{
	Name:    "mysql",
	literal: func(s string) string { return "x'" + hex.EncodeToString([]byte(s)) + "'" },
	key: func(name string) string { // the server has one space for all databases, and takes 64 characters
		sum := sha256.Sum256([]byte(name))
		return "CONCAT('hf:', LEFT(SHA2(CONCAT(DATABASE(), '/" + hex.EncodeToString(sum[:]) + "'), 256), 60))"
	},
	held: func(string) string { return "" },
	try:  lock,
	ready: func(ttl, _ time.Duration) string {
		return mysqlLease(ttl) + ", autocommit = 1, innodb_lock_wait_timeout = 5" +
			", sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'" +
			// MariaDB's and MySQL's: to the other it is a comment. MySQL waits for whole seconds, which is not slow.
			" /*M! , max_statement_time = 0 */ /*!50708 , max_execution_time = 0" +
			", long_query_time = GREATEST(@@SESSION.long_query_time, 2) */"
	},
	lease:   mysqlLease,
	now:     "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
	free:    mysqlFree,
	facts:   mysqlFacts,
	number:  "SELECT CONNECTION_ID() + 0", // without the sum, ProxySQL answers by itself
	busy:    []string{"1205", "1213", "1020", "3101"},
	missing: []string{"1146"},
}

func mysqlLease(ttl time.Duration) string {
	return fmt.Sprintf("SET SESSION wait_timeout = %d", whole(ttl, time.Second)/time.Second)
}

// Postgres is the dialect of PostgreSQL 14 or newer.
var Postgres = &Dialect{
	Name:    "postgres",
	literal: func(s string) string { return `'\x` + hex.EncodeToString([]byte(s)) + "'::bytea" },
	key:     func(name string) string { return strconv.FormatInt(advisoryKey(name), 10) },
	held:    func(name string) string { return heldKey(advisoryKey(name)) },
	try:     tryLock,
	ready: func(ttl, wait time.Duration) string {
		set := map[string]string{
			"idle_session_timeout":          milliseconds(ttl),
			"lock_timeout":                  milliseconds(wait),
			"statement_timeout":             "0",
			"default_transaction_isolation": "read committed",
		}
		calls := []string{dbms.NoTransactionTimeout}
		for name, value := range set {
			calls = append(calls, fmt.Sprintf("set_config('%s', '%s', false)", name, value))
		}
		return "SELECT " + strings.Join(calls, ", ")
	},
	lease:   postgresLease,
	now:     "(EXTRACT(epoch FROM clock_timestamp()) * 1000000)::bigint",
	free:    postgresFree,
	facts:   postgresFacts,
	number:  "SELECT pg_backend_pid()",
	busy:    []string{"40001", "40P01", "55P03"},
	missing: []string{"42P01"},
}

func postgresLease(ttl time.Duration) string {
	return "SET idle_session_timeout = " + milliseconds(ttl)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(driver.Milliseconds(d), 10)
}

// ofThisDatabase tells our locks in pg_locks from those of other databases of the server, which do not exclude ours.
const ofThisDatabase = "l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"

// advisoryKey is one of 2^64 for each name: two of n names share one with odds of n² in 2^65, and then exclude each
// other.
func advisoryKey(name string) int64 {
	sum := sha256.Sum256([]byte("holdfast\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// heldKey is a condition on pg_locks.
func heldKey(number int64) string {
	key := uint64(number)
	return fmt.Sprintf("l.locktype = 'advisory' AND l.objsubid = 1"+
		" AND l.classid = %d AND l.objid = %d AND l.granted AND %s", key>>32, key&(1<<32-1), ofThisDatabase)
}

// whole rounds a TTL up to what the server can be told.
func whole(ttl, unit time.Duration) time.Duration { return (ttl + unit - 1).Truncate(unit) }

// A nature is what servers of one dialect differ in.
type nature struct {
	kind   dbms.Kind
	traits driver.Traits
	unit   time.Duration // of TTLs
	wait   time.Duration // how long a session waits for a lock before it listens to its client again
}

func natureOf(ctx context.Context, db *sql.DB) (n nature, err error) {
	n.traits = driver.Traits{MaxName: 1024, Fenced: true, ServerClock: true, Ops: kinds}
	n.kind, err = dbms.Genuine(ctx, db)
	switch n.kind {
	case dbms.MySQL: // GET_LOCK takes whole seconds, and renewals must come in between
		n.traits.Backend, n.traits.MinTTL, n.unit, n.wait = "mysql", 5*time.Second, time.Second, time.Second
		n.traits.MaxTTL = 24 * 24 * time.Hour
	case dbms.MariaDB:
		n.traits.Backend, n.traits.MinTTL, n.unit, n.wait = "mysql", time.Second, time.Second, 100*time.Millisecond
		n.traits.MaxTTL = 24 * 24 * time.Hour
	case dbms.Postgres: // idle_session_timeout has 31 bits
		n.traits.Backend, n.traits.MinTTL = "postgres", 500*time.Millisecond
		n.unit, n.wait = time.Millisecond, 50*time.Millisecond
		n.traits.MaxTTL = 24 * 24 * time.Hour
	}
	return n, err
}

//go:embed mysql/*.sql postgres/*.sql
var scripts embed.FS

// A script is the name of a .sql file, whose statements run one after another. Only the last one returns rows.
type script string

const (
	makeTables script = "tables"
	sessionID  script = "session"
	lock       script = "lock"
	tryLock    script = "try"
	grantLock  script = "grant"
	noteWait   script = "wait"
	dropWait   script = "unwait"
	renewLease script = "renew"
	release    script = "release"
	endClaim   script = "end"
	readEnd    script = "ended"
	readHeld   script = "held"
	kill       script = "kill"
	stillHolds script = "holds"
	sweep      script = "sweep"
	oldClaims  script = "oldclaims"
	dropClaim  script = "dropclaim"
	oldTokens  script = "oldtokens"
	dropToken  script = "droptoken"
)

// values are what statements are about.
type values struct {
	claim   driver.Claim
	token   uint64
	session int64
	state   string // how the claim ended
	wait    time.Duration
	keep    time.Duration
	row     string // the lock's name in the tables; if empty it follows from the claim
}

// statements are those of a script.
func (d *Dialect) statements(s script, v values) []string {
	text, err := scripts.ReadFile(d.Name + "/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is a part of this package
	}
	filled := strings.NewReplacer(
		"{name}", d.literal(cmp.Or(v.row, d.rows+v.claim.Name)), "{id}", d.literal(v.claim.ID),
		"{key}", d.key(v.claim.Name), "{held}", d.held(v.claim.Name),
		"{ttl}", strconv.FormatInt(v.claim.TTL.Microseconds(), 10), "{token}", strconv.FormatUint(v.token, 10),
		"{session}", strconv.FormatInt(v.session, 10), "{state}", v.state, "{now}", d.now,
		"{free}", d.free,
		"{wait}", strconv.FormatFloat(v.wait.Seconds(), 'f', -1, 64),
		"{keep}", strconv.FormatInt(v.keep.Microseconds(), 10),
	).Replace(string(text))
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(filled), ";"), ";\n")
}

func (d *Dialect) isBusy(err error) bool { return isOneOf(err, d.busy) }

func isOneOf(err error, codes []string) bool {
	code := dbms.Code(err)
	return code != "" && slices.ContainsFunc(codes, func(start string) bool { return strings.HasPrefix(code, start) })
}

// explain says what an error of the server means.
func (d *Dialect) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused):
		return err
	case isOneOf(err, d.missing):
		return health.NotMigrated(err)
	case health.Stray(err):
		return fmt.Errorf("%w (%w)", ErrPooled, err)
	}
	return replies.Explain(err)
}
