package shedlock

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// A Dialect is how to talk to one kind of server. Arguments are literals in the text of a statement, so that nothing is
// prepared, which a proxy might give to another session.
type Dialect struct {
	Name string // the folder of its .sql files, and what people call it

	bytes func(string) string        // a literal, in hexadecimal digits whatever it is: nothing in it is read as SQL
	text  func(string) string        // the same as text, which is compared as the column says that it is compared with
	ours  func(prefix string) string // whether locked_by begins with it
	begin func(prefix string) string // whether name begins with it, byte by byte, whatever the column's collation
	ms    func(time string) string   // a time without less than milliseconds
	end   string                     // when a lock that is taken now ends
	free  string                     // whether the row of a lock can be taken
	now   string                     // in microseconds since 1970

	times   map[string]string // for each type of ShedLock's columns, the server's time as they have it
	makeIt  string            // makes ShedLock's table
	facts   []health.Fact     // what Check looks at
	busy    []string          // codes of errors: nothing was done, because others were in the way
	unfit   []string          // a column cannot have these characters
	narrow  []string          // a column cannot have a text of this length
	commits string            // whether sessions commit each statement by itself; empty where they all do
	digits  string            // how many digits the times of ShedLock's columns have after the second, unless rows tell
}

// MySQL is the dialect of MySQL and MariaDB. ShedLock writes the time of UTC into columns that the server takes for
// times of the session's zone. So does this: with the same zone, which is the server's unless somebody changes it, both
// mean the same.
var MySQL = &Dialect{
	Name:  "mysql",
	bytes: func(s string) string { return fmt.Sprintf("x'%x'", s) },
	text:  func(s string) string { return fmt.Sprintf("_utf8mb4 x'%x'", s) },
	ours: func(prefix string) string {
		return fmt.Sprintf("LEFT(CAST(s.locked_by AS BINARY), %d) = x'%x'", len(prefix), prefix)
	},
	begin: func(prefix string) string {
		return fmt.Sprintf("LEFT(CAST(CONVERT(s.name USING utf8mb4) AS BINARY), %d) = x'%x'", len(prefix), prefix)
	},
	ms:      func(time string) string { return time },
	free:    "{table}.lock_until <= {time} AND CAST(CONVERT({table}.name USING utf8mb4) AS BINARY) = {bytes}",
	end:     "TIMESTAMPADD(MICROSECOND, {ttl} + 1000, {ms})",
	now:     "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
	times:   map[string]string{"TIMESTAMP": "UTC_TIMESTAMP(3)", "DATETIME": "UTC_TIMESTAMP(3)"},
	makeIt:  table("TIMESTAMP(3)"),
	facts:   mysqlFacts,
	busy:    []string{"1205", "1213", "1020", "3101"},
	unfit:   []string{"1267", "1366", "3854"},
	narrow:  []string{"1406"},
	commits: "SELECT @@SESSION.autocommit",
}

// Postgres is the dialect of PostgreSQL 12 or newer. Its ShedLock writes the time of UTC into columns without a zone.
// In columns with one that would be another time for each zone of a session.
var Postgres = &Dialect{
	Name:  "postgres",
	bytes: func(s string) string { return fmt.Sprintf("decode('%x', 'hex')", s) },
	text:  postgresText,
	ours: func(prefix string) string {
		return fmt.Sprintf("left(s.locked_by, %d) = %s", len(prefix), postgresText(prefix))
	},
	begin: func(prefix string) string { // of the bytes that a client gets, which need not be those that are stored
		return fmt.Sprintf("substr(textsend(s.name::text), 1, %d) = decode('%x', 'hex')", len(prefix), prefix)
	},
	ms:     func(time string) string { return "date_trunc('milliseconds', " + time + ")" },
	free:   `s.lock_until <= {time} AND s.name::text COLLATE "C" = {name}`,
	end:    "{ms} + INTERVAL '1 millisecond' + {ttl} * INTERVAL '1 microsecond'",
	now:    "(EXTRACT(epoch FROM clock_timestamp()) * 1000000)::bigint",
	times:  map[string]string{"TIMESTAMP": "timezone('utc', clock_timestamp())"},
	makeIt: table("TIMESTAMP"),
	facts:  health.Postgres,
	busy:   []string{"40001", "40P01", "55P03"},
	unfit:  []string{"22021", "22P05"},
	narrow: []string{"22001"},
	digits: "SELECT min(CASE WHEN atttypmod < 0 THEN 6 ELSE atttypmod END) FROM pg_attribute" +
		" WHERE attrelid = '{table}'::regclass AND attname IN ('lock_until', 'locked_at')",
}

// postgresText is a literal that has no collation of its own, as the result of convert_from would.
func postgresText(s string) string {
	var text strings.Builder
	for _, r := range s {
		fmt.Fprintf(&text, `\U%08x`, r)
	}
	return "E'" + text.String() + "'"
}

// table is the statement that makes ShedLock's table, as its documentation has it.
func table(time string) string {
	return "CREATE TABLE {table} (name VARCHAR(64) NOT NULL PRIMARY KEY, lock_until " + time + " NOT NULL," +
		" locked_at " + time + " NOT NULL, locked_by VARCHAR(255) NOT NULL)"
}

//go:embed mysql/*.sql postgres/*.sql
var scripts embed.FS

// A script is the name of a .sql file.
type script string

const (
	makeTables  script = "tables"
	readFormat  script = "format"
	readColumns script = "columns"
	noteClaim   script = "note"
	takeLock    script = "take"
	holdLock    script = "hold"
	readClaim   script = "read"
	isTaken     script = "taken"
	stands      script = "stands"
	freeLock    script = "free"
	barClaim    script = "bar"
	barUnknown  script = "barunknown"
	expireClaim script = "expire"
	forget      script = "forget"
	giveUp      script = "giveup"
	seizeLock   script = "seize"
	readHolder  script = "holder"
	readWaiting script = "waiting"
	readNames   script = "names"
	readWaited  script = "waited"
	sweep       script = "sweep"
)

// values are what a statement is about.
type values struct {
	claim driver.Claim
	state string // of the claim from now on
	age   time.Duration
	begin string // of the names that a list is about
	after string // the last name of the page before, or empty: the list begins
}

// statement fills in a script.
func (d *Driver) statement(s script, v values) string {
	c := v.claim
	text := strings.NewReplacer("{end}", d.dialect.end, "{free}", d.dialect.free).Replace(d.dialect.source(s))
	return strings.NewReplacer(
		"{table}", d.table, "{key}", d.dialect.bytes(d.key(c.Name)), "{name}", d.dialect.text(c.Name),
		"{bytes}", d.dialect.bytes(c.Name), "{id}", d.dialect.bytes(c.ID),
		"{by}", d.dialect.text(lockedBy(c)), "{ours}", d.dialect.ours(mark(c.ID)),
		"{owner}", d.dialect.bytes(c.Owner), "{value}", d.dialect.bytes(c.Value),
		"{ttl}", strconv.FormatInt(driver.Milliseconds(c.TTL)*1000, 10), "{token}", strconv.FormatUint(c.Token, 10),
		"{alone}", strconv.FormatBool(c.Detached), "{state}", v.state,
		"{age}", strconv.FormatInt(v.age.Microseconds(), 10),
		"{begins}", d.dialect.begin(v.begin), "{after}", d.dialect.after(v.after), "{page}", strconv.Itoa(listPage),
		"{from}", d.dialect.bytes(d.key(v.begin)), "{before}", d.dialect.bytes(dbms.End(d.key(v.begin))),
		"{time}", d.time, "{ms}", d.dialect.ms(d.time), "{now}", d.dialect.now,
	).Replace(text)
}

// after is whether the name of a row follows one in the order of its column.
func (d *Dialect) after(name string) string {
	if name == "" {
		return "1 = 1"
	}
	return "s.name > " + d.text(name)
}

func (d *Dialect) source(s script) string {
	text, err := scripts.ReadFile(d.Name + "/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is a part of this package
	}
	return string(text)
}

// Tables are the statements that make our table where it is missing.
func (d *Dialect) Tables() []string {
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(d.source(makeTables)), ";"), ";\n")
}
