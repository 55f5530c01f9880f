package dbms

import (
	"errors"
	"fmt"
	"testing"
)

// These have the shapes of what SQL drivers return; tests on real servers use the drivers themselves.
type (
	MySQLError struct {
		Number  uint16
		Message string
	}
	pgError struct{ code string }
)

func (e *MySQLError) Error() string { return "Error: " + e.Message }
func (e *pgError) Error() string    { return "ERROR" }

func (e *pgError) SQLState() string { return e.code }

func TestCode(t *testing.T) {
	for _, row := range []struct {
		err           error
		code          string
		undone, taken bool
		noTable       bool
	}{
		{nil, "", false, false, false},
		{errors.New("Error 1213: deadlock, as somebody's text says"), "", false, false, false},
		{&MySQLError{Number: 1213}, "1213", true, false, false},
		{fmt.Errorf("lock: %w", &MySQLError{Number: 1205}), "1205", false, true, false},
		{errors.Join(errors.New("1st"), fmt.Errorf("2nd: %w", &MySQLError{Number: 3572})), "3572", false, true, false},
		{&MySQLError{Number: 3101}, "3101", true, false, false},
		{&MySQLError{1180, "Got error 149 - 'Lock deadlock' during COMMIT"}, "1213", true, false, false},
		{&MySQLError{1180, "Got error 28 - 'No space left' during COMMIT"}, "1180", false, false, false},
		{&MySQLError{Number: 1146}, "1146", false, false, true},
		{fmt.Errorf("lock: %w", &pgError{"40P01"}), "40P01", true, false, false},
		{&pgError{"40001"}, "40001", true, false, false},
		{&pgError{"55P03"}, "55P03", false, true, false},
		{&pgError{"42P01"}, "42P01", false, false, true},
		{&pgError{"23505"}, "23505", false, false, false},
		{errors.New("SQL logic error: no such table: t (1)"), "", false, false, true},
	} {
		if got := Code(row.err); got != row.code {
			t.Errorf("the code of %v is %q, want %q", row.err, got, row.code)
		}
		got := [3]bool{Undone(row.err), Taken(row.err), NoTable(row.err)}
		if got != [3]bool{row.undone, row.taken, row.noTable} {
			t.Errorf("undone, taken and no table for %v: %v", row.err, got)
		}
	}
}

func TestLocksNoRows(t *testing.T) {
	for _, row := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New(`SQL logic error: near "FOR": syntax error (1)`), true},
		{fmt.Errorf("query: %w", errors.New(`near "LOCK": syntax error`)), true},
		{&MySQLError{Number: 1205}, false},
	} {
		if got := LocksNoRows(row.err); got != row.want {
			t.Errorf("%v: no rows are locked: %v, want %v", row.err, got, row.want)
		}
	}
}
