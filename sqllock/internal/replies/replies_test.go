package replies

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// These have the shapes of what SQL drivers return; tests on real servers use the drivers themselves.
type (
	MySQLError struct{ Number uint16 }
	pgError    struct{ code string }
)

func (e *MySQLError) Error() string { return fmt.Sprintf("Error %d: as MySQL says", e.Number) }
func (e *pgError) Error() string    { return "as PostgreSQL says (SQLSTATE " + e.code + ")" }

func (e *pgError) SQLState() string { return e.code }

func TestExplain(t *testing.T) {
	pg := func(code string) error { return fmt.Errorf("SELECT 1 -- a comment: %w", &pgError{code}) }
	my := func(n uint16) error { return fmt.Errorf("SELECT 1 /* a comment */: %w", &MySQLError{n}) }
	unsent := func(err error) error { return fmt.Errorf("%w: %w", driver.ErrUnsent, err) }
	for _, row := range []struct {
		table  Table
		err    error
		effect driver.Effect
		advice string // a part of it
	}{
		{Postgres, pg("40001"), notNow, ""},
		{Postgres, pg("40P01"), notNow, ""},
		{Postgres, pg("40003"), mayHaveHappened, ""},
		{Postgres, pg("57P03"), notNow, "starting"},
		{Postgres, pg("53300"), notNow, "max_connections"},
		{Postgres, pg("53100"), notNow, "disk"},
		{Postgres, pg("25006"), notNow, "primary"},
		{Postgres, pg("42501"), refused, "rights"},
		{Postgres, pg("42P01"), refused, "holdfast migrate"},
		{Postgres, pg("42601"), refused, ""}, // of a class
		{Postgres, pg("28P01"), refused, "password"},
		{Postgres, pg("28000"), refused, "pg_hba.conf"},
		{Postgres, pg("3D000"), refused, "database"},
		{Postgres, pg("08006"), mayHaveHappened, ""},
		{Postgres, pg("08P01"), mayHaveHappened, "PgBouncer"},
		{Postgres, unsent(pg("08P01")), notNow, "PgBouncer"},
		{Postgres, pg("57P01"), mayHaveHappened, ""},
		{Postgres, unsent(pg("57P01")), notNow, ""}, // it could not connect
		{Postgres, unsent(pg("28P01")), refused, "password"},
		{Postgres, pg("ZZ999"), mayHaveHappened, ""}, // in no table
		{MySQL, my(1205), notNow, ""},
		{MySQL, my(1213), notNow, ""},
		{MySQL, my(1040), notNow, "max_connections"},
		{MySQL, my(1290), notNow, "primary"},
		{MySQL, my(1045), refused, "password"},
		{MySQL, my(1146), refused, "holdfast migrate"},
		{MySQL, my(1053), mayHaveHappened, ""},
		{MySQL, unsent(my(1053)), notNow, ""},
		{MySQL, my(9999), mayHaveHappened, ""},
	} {
		err := row.table.Explain(row.err)
		server, ok := errors.AsType[*driver.ServerError](err)
		if !ok {
			t.Errorf("%v: %v", row.err, err)
			continue
		}
		if server.Effect != row.effect || !strings.Contains(server.Advice, row.advice) {
			t.Errorf("%v: %v", row.err, err)
		}
		if strings.Contains(err.Error(), "comment") || !errors.Is(err, row.err) {
			t.Errorf("%v is explained as %v", row.err, err)
		}
		if again := row.table.Explain(fmt.Errorf("again: %w", err)); strings.Count(again.Error(), "answered") != 1 {
			t.Errorf("it is explained twice: %v", again)
		}
	}
	silent := errors.New("connection reset by peer")
	if err := Postgres.Explain(silent); err != silent {
		t.Errorf("no server has sent %v", err)
	}
	if err := Postgres.Explain(nil); err != nil {
		t.Error(err)
	}
}

// The text of pgx about several attempts to connect is one line, with each cause once.
func TestConcise(t *testing.T) {
	refused := errors.New("failed to connect to `user=a database=x`:" +
		"\n\t127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused" +
		"\n\t127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused" +
		"\n\t127.0.0.1:2 (127.0.0.1): tls error: no certificate")
	const want = "failed to connect to `user=a database=x`: dial tcp 127.0.0.1:1: connect: connection refused; " +
		"127.0.0.1:2 (127.0.0.1): tls error: no certificate"
	if err := Postgres.Explain(refused); err.Error() != want || !errors.Is(err, refused) {
		t.Errorf("it says %q, want %q", err, want)
	}
}

func TestUnsent(t *testing.T) {
	for _, err := range []error{
		errors.New("no connection"), driver.ErrUnsent,
		Postgres.Explain(&pgError{"57P01"}), Postgres.Explain(&pgError{"53300"}), Postgres.Explain(&pgError{"28P01"}),
	} {
		got := Unsent(Unsent(err))
		if !errors.Is(got, driver.ErrUnsent) || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if strings.Count(got.Error(), driver.ErrUnsent.Error()) > 1 {
			t.Errorf("it says so twice: %v", got)
		}
	}
	if err := Unsent(Postgres.Explain(&pgError{"28P01"})); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a refusal became %v", err)
	}
}

// Every code has the form of one, and every advice that is given goes on where the server's words end.
func TestTables(t *testing.T) {
	for code, r := range Postgres {
		if len(code) != 2 && len(code) != 5 {
			t.Errorf("%q is no SQLSTATE and no class", code)
		}
		checkAdvice(t, code, r)
	}
	for code, r := range MySQL {
		if len(code) != 4 || strings.Trim(code, "0123456789") != "" {
			t.Errorf("%q is no number of an error", code)
		}
		checkAdvice(t, code, r)
	}
}

func checkAdvice(t *testing.T, code string, r Reply) {
	t.Helper()
	if strings.HasSuffix(r.Advice, ".") || strings.ToUpper(r.Advice) == r.Advice && r.Advice != "" {
		t.Errorf("%s: %q", code, r.Advice)
	}
}
