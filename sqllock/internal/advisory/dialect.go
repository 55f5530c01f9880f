package advisory

import (
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A Dialect is how to talk to one kind of server. Arguments are literals in the text of a statement, so that it takes
// one round trip: a session lives for one claim only, and it is not worth while to prepare statements.
type Dialect struct {
	server.Kind
	key    string                  // what the server locks for a row of this {name}
	held   string                  // whether l, of pg_locks, is that lock
	free   string                  // whether nobody has the lock of a row of holdfast_sessions
	try    string                  // what asks for a lock without waiting
	facts  []health.Fact           // what Check looks at
	refuse func(name string) error // of names that cannot be the server's own
}

// MySQL is the dialect of MySQL and MariaDB.
var MySQL = &Dialect{
	Kind:   server.MySQL,
	key:    mysqlKey,
	free:   "(id = '' OR IS_FREE_LOCK(" + strings.ReplaceAll(mysqlKey, "{name}", "name") + "))",
	try:    "lock",
	facts:  mysqlFacts,
	refuse: refuseLong,
}

// Postgres is the dialect of PostgreSQL 14 or newer.
var Postgres = &Dialect{
	Kind: server.Postgres,
	key:  "(" + postgresKey + ")::bigint",
	held: postgresHeld,
	free: "(id = '' OR NOT EXISTS(SELECT 1 FROM pg_locks l WHERE " +
		strings.ReplaceAll(postgresHeld, "{name}", "name") + "))",
	try:    "try",
	facts:  postgresFacts,
	refuse: refuseText,
}

// These tell the server what to lock. The name of a row tells of which layout its lock is, because a sweep in one
// layout meets the rows of both.
const (
	// The server has one space for all databases, and takes 64 characters. A name of the server's own is text, in which
	// case does not count: bytes would be another lock.
	mysqlKey = "IF(LEFT({name}, 5) = x'0072617700', CONVERT(SUBSTRING({name}, 6) USING utf8mb4)," +
		" CONCAT('hf:', LEFT(SHA2(CONCAT(DATABASE(), '/', SHA2({name}, 256)), 256), 60)))"

	// One of 2^64 for each name: two of n names share one with odds of n² in 2^65, and then exclude each other.
	postgresKey = "CASE WHEN substring({name} FOR 5) = '\\x0072617700' AND " + postgresText + " ~ '^-?[0-9]+$'" +
		" THEN " + postgresText + "::numeric" +
		" ELSE ('x' || encode(substring(sha256('holdfast\\000'::bytea || {name}) FOR 8), 'hex'))::bit(64)::bigint END"
	postgresText = "encode(substring({name} FROM 6), 'escape')" // of a lock that is the server's own

	// Locks of other databases of the server do not exclude ours.
	postgresHeld = "l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND " + ofThisDatabase +
		" AND (l.classid::bigint << 32) | l.objid::bigint = " + postgresKey
	ofThisDatabase = "l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)

// A nature is what servers of one dialect differ in.
type nature struct {
	minTTL time.Duration
	unit   time.Duration // of TTLs
	wait   time.Duration // how long a session waits for a lock before it listens to its client again
}

// GET_LOCK of MySQL takes whole seconds, and renewals must come in between.
var natures = map[dbms.Kind]nature{
	dbms.MySQL:    {5 * time.Second, time.Second, time.Second},
	dbms.MariaDB:  {time.Second, time.Second, 100 * time.Millisecond},
	dbms.Postgres: {500 * time.Millisecond, time.Millisecond, 50 * time.Millisecond},
}

// maxTTL has 31 bits in milliseconds, as idle_session_timeout.
const maxTTL = 24 * 24 * time.Hour

//go:embed mysql/*.sql postgres/*.sql
var scripts embed.FS

// values are what statements are about.
type values struct {
	claim   driver.Claim
	idle    int64 // after how many units of TTLs the server ends the session
	token   uint64
	session int64
	state   string // how the claim ended
	wait    time.Duration
	keep    time.Duration
	row     string // the lock's name in the tables
}

// statements are those of a script, one of the .sql files, which run one after another. Only the last one returns rows.
func (d *Dialect) statements(script string, v values) []string {
	names := strings.NewReplacer("{key}", d.key, "{held}", d.held, "{free}", d.free)
	text := names.Replace(d.Statement(scripts, script))
	return server.Split(strings.NewReplacer(
		"{name}", d.Bytes(v.row), "{id}", d.Bytes(v.claim.ID), "{now}", d.Now,
		"{ttl}", strconv.FormatInt(v.claim.TTL.Microseconds(), 10), "{idle}", strconv.FormatInt(v.idle, 10),
		"{token}", strconv.FormatUint(v.token, 10), "{session}", strconv.FormatInt(v.session, 10), "{state}", v.state,
		"{wait}", strconv.FormatFloat(v.wait.Seconds(), 'f', -1, 64),
		"{keep}", strconv.FormatInt(v.keep.Microseconds(), 10),
	).Replace(text))
}

// explain says what an error of the server means.
func explain(err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused):
		return err
	case dbms.NoTable(err):
		return health.NotMigrated(err)
	case health.Stray(err):
		return fmt.Errorf("%w (%w)", ErrPooled, err)
	}
	return replies.Explain(err)
}
