package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// coded is an error of an SQL driver that tells SQLite's code.
type coded int

func (c coded) Error() string { return fmt.Sprintf("SQLite said %d", int(c)) }
func (c coded) Code() int     { return int(c) }

func TestErrorsOfSQLite(t *testing.T) {
	for _, row := range []struct {
		err           error
		busy, refusal bool
		why           string
	}{
		{coded(5), true, false, "BUSY: another process writes"},
		{coded(261), true, false, "BUSY_RECOVERY: another process reads the log after a crash"},
		{coded(517), true, false, "BUSY_SNAPSHOT: another process wrote since the transaction began"},
		{coded(6), true, false, "LOCKED: another connection of this process writes"},
		{coded(15), true, false, "PROTOCOL: too many open the log at once"},
		{fmt.Errorf("begin: %w", coded(5)), true, false, "however it is wrapped"},
		{errors.New("database is locked"), true, false, "an SQL driver that tells no codes"},
		{errors.New("database is locked (5) (SQLITE_BUSY)"), true, false, "an SQL driver that tells no codes"},
		{coded(8), false, true, "READONLY"},
		{coded(14), false, true, "CANTOPEN"},
		{coded(26), false, true, "NOTADB"},
		{errors.New("file is not a database"), false, true, "an SQL driver that tells no codes"},
		{coded(10), false, false, "IOERR: nobody knows what was done"},
		{coded(13), false, false, "FULL: later there may be room"},
		{errors.New("no such table: holdfast_claims"), false, false, "what is not known is not repeated"},
	} {
		if got := IsBusy(row.err); got != row.busy {
			t.Errorf("%v: busy is %v, want %v: %s", row.err, got, row.busy, row.why)
		}
		if got := errors.Is(explain(row.err), driver.ErrRefused); got != row.refusal {
			t.Errorf("%v: a refusal is %v, want %v: %s", row.err, got, row.refusal, row.why)
		}
	}
}

// All statements are there, and each says what it does, takes and returns.
func TestStatementsSayWhatTheyDo(t *testing.T) {
	files, err := scripts.ReadDir("sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := text(statement(strings.TrimSuffix(f.Name(), ".sql")))
		about, _, _ := strings.Cut(text, "\n\n")
		if !strings.HasPrefix(text, "-- ") || !strings.Contains(about, "Takes ") && !strings.Contains(about, "takes ") {
			t.Errorf("%s begins with %q", f.Name(), about)
		}
	}
}
