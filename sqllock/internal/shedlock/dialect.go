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
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A Dialect is how to talk to one kind of server. Arguments are literals in the text of a statement, so that nothing is
// prepared, which a proxy might give to another session.
type Dialect struct {
	server.Kind
	text  func(string) string // a literal as Bytes, but as text, which is compared as the column says
	ours  string              // whether locked_by begins with the claim's mark
	begin string              // whether name begins with the prefix, byte by byte, whatever the column's collation
	ms    string              // the server's time without less than milliseconds
	end   string              // when a lock that is taken now ends
	free  string              // whether the row of a lock can be taken

	time   string        // the server's time, as ShedLock's columns have it
	types  []string      // which these columns may have
	makeIt string        // makes ShedLock's table
	facts  []health.Fact // what Check looks at
	digits string        // how many digits the times of ShedLock's columns have after the second, unless rows tell
}

// MySQL is the dialect of MySQL and MariaDB. ShedLock writes the time of UTC into columns that the server takes for
// times of the session's zone. So does this: with the same zone, which is the server's unless somebody changes it, both
// mean the same.
var MySQL = &Dialect{
	Kind:   server.MySQL,
	text:   func(s string) string { return fmt.Sprintf("_utf8mb4 x'%x'", s) },
	ours:   "LEFT(CAST(s.locked_by AS BINARY), LENGTH({mark})) = CAST({mark} AS BINARY)",
	begin:  "LEFT(CAST(CONVERT(s.name USING utf8mb4) AS BINARY), LENGTH({prefix})) = {prefix}",
	ms:     "{time}",
	free:   "{table}.lock_until <= {time} AND CAST(CONVERT({table}.name USING utf8mb4) AS BINARY) = {bytes}",
	end:    "TIMESTAMPADD(MICROSECOND, {ttl} + 1000, {ms})",
	time:   "UTC_TIMESTAMP(3)",
	types:  []string{"TIMESTAMP", "DATETIME"},
	makeIt: table("TIMESTAMP(3)"),
	facts:  mysqlFacts,
}

// Postgres is the dialect of PostgreSQL 12 or newer. Its ShedLock writes the time of UTC into columns without a zone.
// In columns with one that would be another time for each zone of a session.
var Postgres = &Dialect{
	Kind: server.Postgres,
	text: postgresText,
	ours: "left(s.locked_by, length({mark})) = {mark}",
	// Of the bytes that a client gets, which need not be those that are stored.
	begin:  "substr(textsend(s.name::text), 1, length({prefix})) = {prefix}",
	ms:     "date_trunc('milliseconds', {time})",
	free:   `s.lock_until <= {time} AND s.name::text COLLATE "C" = {name}`,
	end:    "{ms} + INTERVAL '1 millisecond' + {ttl} * INTERVAL '1 microsecond'",
	time:   "timezone('utc', clock_timestamp())",
	types:  []string{"TIMESTAMP"},
	makeIt: table("TIMESTAMP"),
	facts:  health.Postgres,
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

// values are what a statement is about.
type values struct {
	claim driver.Claim
	state string // of the claim from now on
	age   time.Duration
	begin string // of the names that a list is about
	after string // the last name of the page before, or empty: the list begins
}

// statement fills in one of the .sql files.
func (d *Driver) statement(name string, v values) string {
	c, l := v.claim, d.dialect
	text := strings.NewReplacer("{end}", l.end, "{free}", l.free).Replace(l.Statement(scripts, name))
	text = strings.NewReplacer("{ms}", l.ms, "{ours}", l.ours, "{begins}", l.begin).Replace(text)
	return strings.NewReplacer(
		"{table}", d.table, "{key}", l.Bytes(d.key(c.Name)), "{name}", l.text(c.Name), "{bytes}", l.Bytes(c.Name),
		"{id}", l.Bytes(c.ID), "{by}", l.text(lockedBy(c)), "{mark}", l.text(mark(c.ID)),
		"{owner}", l.Bytes(c.Owner), "{value}", l.Bytes(c.Value),
		"{ttl}", strconv.FormatInt(driver.Milliseconds(c.TTL)*1000, 10), "{token}", strconv.FormatUint(c.Token, 10),
		"{alone}", strconv.FormatBool(c.Detached), "{state}", v.state,
		"{age}", strconv.FormatInt(v.age.Microseconds(), 10),
		"{prefix}", l.Bytes(v.begin), "{after}", l.text(v.after), "{page}", strconv.Itoa(listPage),
		"{from}", l.Bytes(d.key(v.begin)), "{before}", l.Bytes(dbms.End(d.key(v.begin))),
		"{time}", l.time, "{now}", l.Now,
	).Replace(text)
}

// Tables are the statements that make our table where it is missing.
func (d *Dialect) Tables() []string { return server.Split(d.Text(scripts, "tables")) }
