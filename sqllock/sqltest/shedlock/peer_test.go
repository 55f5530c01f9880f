package shedlock

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A peer is a program with ShedLock: it sends what ShedLock's JdbcTemplateLockProvider does, one statement after the
// other. No ShedLock can be had where the tests run; these are its statements as its sources make them.
type peer struct {
	*sql.DB
	statements
	host string
	now  func() time.Time // its own clock, for statements that have one
}

// statements are those of ShedLock, with the arguments :name, :by, :most and, with a clock of its own, :now and :until.
type statements struct{ insert, update, extend, unlock string }

// With usingDbTime() the database's clock counts.
var dbTime = map[string]statements{
	"postgres": {
		insert: "INSERT INTO shedlock(name, lock_until, locked_at, locked_by)" +
			" VALUES(:name, timezone('utc', CURRENT_TIMESTAMP) + cast(:most as interval)," +
			" timezone('utc', CURRENT_TIMESTAMP), :by)" +
			" ON CONFLICT (name) DO UPDATE" +
			" SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast(:most as interval)," +
			" locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = :by" +
			" WHERE shedlock.name = :name AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)",
		update: "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast(:most as interval)," +
			" locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = :by" +
			" WHERE shedlock.name = :name AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)",
		extend: "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast(:most as interval)" +
			" WHERE name = :name AND locked_by = :by AND lock_until > timezone('utc', CURRENT_TIMESTAMP)",
		unlock: "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP)" +
			" WHERE name = :name AND locked_by = :by",
	},
	"mariadb": {
		insert: "INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by)" +
			" VALUES(:name, TIMESTAMPADD(MICROSECOND, :most, UTC_TIMESTAMP(3)), UTC_TIMESTAMP(3), :by)",
		update: "UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, :most, UTC_TIMESTAMP(3))," +
			" locked_at = UTC_TIMESTAMP(3), locked_by = :by WHERE name = :name AND lock_until <= UTC_TIMESTAMP(3)",
		extend: "UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, :most, UTC_TIMESTAMP(3))" +
			" WHERE name = :name AND locked_by = :by AND lock_until > UTC_TIMESTAMP(3)",
		unlock: "UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3) WHERE name = :name AND locked_by = :by",
	},
}

// ownTime is what the clock of the program counts in, in UTC. It is the same for both databases but for the insertion.
var ownTime = map[string]statements{
	"postgres": ownStatements(" ON CONFLICT (name) DO NOTHING"),
	"mariadb":  ownStatements(""),
}

func ownStatements(ifThere string) statements {
	return statements{
		insert: "INSERT INTO shedlock(name, lock_until, locked_at, locked_by)" +
			" VALUES(:name, :until, :now, :by)" + ifThere,
		update: "UPDATE shedlock SET lock_until = :until, locked_at = :now, locked_by = :by" +
			" WHERE name = :name AND lock_until <= :now",
		extend: "UPDATE shedlock SET lock_until = :until WHERE name = :name AND locked_by = :by AND lock_until > :now",
		unlock: "UPDATE shedlock SET lock_until = :now WHERE name = :name AND locked_by = :by",
	}
}

// atMost is lockAtMostFor.
const atMost = time.Minute

// lock does as ShedLock: it inserts the row or, where there is one, updates it.
func (p peer) lock(t testing.TB, s server, name string, most time.Duration) bool {
	t.Helper()
	if p.send(t, s, p.insert, name, most) {
		return true
	}
	return p.send(t, s, p.update, name, most)
}

func (p peer) free(t testing.TB, s server, name string) {
	t.Helper()
	p.send(t, s, p.unlock, name, 0)
}

// send runs a statement as a transaction of its own, and reports whether it changed a row. A duplicate row is no error.
func (p peer) send(t testing.TB, s server, statement, name string, most time.Duration) bool {
	t.Helper()
	text := func(x string) string { return "'" + x + "'" }
	own := func(at time.Time) string { return text(at.UTC().Format("2006-01-02 15:04:05.000")) }
	interval := fmt.Sprint(most.Microseconds())
	if s.Name == "postgres" {
		interval = text(fmt.Sprint(most.Milliseconds(), " milliseconds"))
	}
	now := p.now()
	filled := strings.NewReplacer(":name", text(name), ":by", text(p.host), ":most", interval,
		":now", own(now), ":until", own(now.Add(most))).Replace(statement)
	result, err := p.ExecContext(context.Background(), filled)
	if err != nil && strings.Contains(err.Error(), "Duplicate entry") {
		return false
	}
	if err != nil {
		t.Fatalf("%s: %v", filled, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}
