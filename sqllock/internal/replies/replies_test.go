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
		err    error
		effect driver.Effect
		advice string // a part of it
	}{
		{pg("40001"), notNow, ""},
		{pg("40P01"), notNow, ""},
		{pg("40003"), mayHaveHappened, ""},
		{pg("57P03"), notNow, "starting"},
		{pg("53300"), notNow, "max_connections"},
		{pg("53100"), notNow, "disk"},
		{pg("25006"), notNow, "primary"},
		{pg("42501"), refused, "rights"},
		{pg("42P01"), refused, "holdfast migrate"},
		{pg("42601"), refused, ""}, // of a class
		{pg("28P01"), refused, "password"},
		{pg("28000"), refused, "pg_hba.conf"},
		{pg("3D000"), refused, "database"},
		{pg("08006"), mayHaveHappened, ""},
		{pg("08P01"), mayHaveHappened, "PgBouncer"},
		{unsent(pg("08P01")), notNow, "PgBouncer"},
		{pg("57P01"), mayHaveHappened, ""},
		{unsent(pg("57P01")), notNow, ""}, // it could not connect
		{unsent(pg("28P01")), refused, "password"},
		{pg("ZZ999"), mayHaveHappened, ""}, // in no table
		{my(1205), notNow, ""},
		{my(1213), notNow, ""},
		{my(1040), notNow, "max_connections"},
		{my(1290), notNow, "primary"},
		{my(1045), refused, "password"},
		{my(1146), refused, "holdfast migrate"},
		{my(1053), mayHaveHappened, ""},
		{unsent(my(1053)), notNow, ""},
		{my(9999), mayHaveHappened, ""},
	} {
		err := Explain(row.err)
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
		if again := Explain(fmt.Errorf("again: %w", err)); strings.Count(again.Error(), "answered") != 1 {
			t.Errorf("it is explained twice: %v", again)
		}
	}
	silent := errors.New("connection reset by peer")
	if err := Explain(silent); err != silent {
		t.Errorf("no server has sent %v", err)
	}
	if err := Explain(nil); err != nil {
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
	if err := Explain(refused); err.Error() != want || !errors.Is(err, refused) {
		t.Errorf("it says %q, want %q", err, want)
	}
}

func TestUnsent(t *testing.T) {
	for _, err := range []error{
		errors.New("no connection"), driver.ErrUnsent,
		Explain(&pgError{"57P01"}), Explain(&pgError{"53300"}), Explain(&pgError{"28P01"}),
	} {
		got := Unsent(Unsent(err))
		if !errors.Is(got, driver.ErrUnsent) || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if strings.Count(got.Error(), driver.ErrUnsent.Error()) > 1 {
			t.Errorf("it says so twice: %v", got)
		}
	}
	if err := Unsent(Explain(&pgError{"28P01"})); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a refusal became %v", err)
	}
}

// Every code has the form of one and stands in one place, and every advice goes on where the server's words end.
func TestMeanings(t *testing.T) {
	known := make(map[string]bool)
	for _, m := range meanings {
		for _, code := range strings.Fields(m.codes) {
			isNumber := len(code) == 4 && strings.Trim(code, "0123456789") == ""
			if !isNumber && len(code) != classLength && len(code) != stateLength || known[code] {
				t.Errorf("%q is neither a number nor an SQLSTATE or a class, or it is there twice", code)
			}
			known[code] = true
		}
		if strings.HasSuffix(m.advice, ".") || strings.ToUpper(m.advice) == m.advice && m.advice != "" {
			t.Errorf("%s: %q", m.codes, m.advice)
		}
	}
	if class := "40"; meaningOf(class+"15").codes != "" || meaningOf(class+"015").effect != notNow {
		t.Errorf("%s015 is of a class, and the number %s15 of none", class, class)
	}
}
