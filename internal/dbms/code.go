package dbms

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Code returns what a database calls an error: the SQLSTATE of PostgreSQL, the number of MySQL and MariaDB. It is empty
// for others: those that no database has sent, and those of SQLite. A deadlock is 1213, also one that a COMMIT of MySQL
// ends in as 1180, which has the storage engine's number in its text.
func Code(err error) string {
	code, _ := Said(err)
	return code
}

// Said returns what [Code] says of an error, and the error that the database sent, out of what was wrapped around it.
// It returns nil for others.
func Said(err error) (code string, said error) {
	var stated interface {
		error
		SQLState() string
	}
	if errors.As(err, &stated) {
		return stated.SQLState(), stated
	}
	return numbered(err)
}

// numbered finds an error of MySQL, whose driver has the number in a field and in no method.
func numbered(err error) (number string, said error) {
	if err == nil {
		return "", nil
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct && v.Type().Name() == "MySQLError" {
		if n := v.FieldByName("Number"); n.IsValid() && n.CanUint() {
			if n.Uint() == errorDuringCommit && strings.Contains(err.Error(), engineDeadlock) {
				return "1213", err
			}
			return strconv.FormatUint(n.Uint(), 10), err
		}
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return numbered(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			if number, said := numbered(one); said != nil {
				return number, said
			}
		}
	}
	return "", nil
}

// How MySQL tells of a deadlock at a COMMIT. Group replication ends a transaction so that is in the way of one that
// another primary has committed.
const (
	errorDuringCommit = 1180    // ER_ERROR_DURING_COMMIT
	engineDeadlock    = " 149 " // HA_ERR_LOCK_DEADLOCK; the words around it are of the server's language
)

// Undone reports whether an error means that the database has rolled the whole transaction back, because it was in the
// way of another: a deadlock, or a conflict between transactions. The transaction can be run again.
func Undone(err error) bool {
	return slices.Contains([]string{
		"1213",  // ER_LOCK_DEADLOCK; at a COMMIT of Galera, too
		"3101",  // ER_TRANSACTION_ROLLBACK_DURING_COMMIT, of group replication
		"40001", // serialization_failure
		"40P01", // deadlock_detected
	}, Code(err))
}

// Taken reports whether an error means that a row is locked by another transaction, and was not waited for or not for
// long enough.
func Taken(err error) bool {
	return slices.Contains([]string{
		"1205",  // ER_LOCK_WAIT_TIMEOUT, and NOWAIT on MariaDB
		"3572",  // ER_LOCK_NOWAIT of MySQL
		"55P03", // lock_not_available: NOWAIT, and lock_timeout
	}, Code(err))
}

// NoTable reports whether an error means that a table is missing.
func NoTable(err error) bool {
	return slices.Contains([]string{
		"1146",  // ER_NO_SUCH_TABLE
		"42P01", // undefined_table
	}, Code(err)) || err != nil && strings.Contains(err.Error(), "no such table")
}

// LocksNoRows reports whether an error means that a query was to lock rows, and the database locks none: SQLite does
// not know the words.
func LocksNoRows(err error) bool {
	return err != nil && (strings.Contains(err.Error(), `near "FOR"`) || strings.Contains(err.Error(), `near "LOCK"`))
}

// Raced reports whether an error means that another session made the same table at the same time. PostgreSQL does not
// wait for that one when told to make a table if there is none.
func Raced(err error) bool {
	return slices.Contains([]string{
		"23505", // unique_violation, in the catalogue
		"42P07", // duplicate_table
		"42710", // duplicate_object, its type
	}, Code(err))
}

// NotCommitted reports whether the error of a COMMIT tells that nothing was committed. Others leave that open: the
// answer may be lost, or the server ended meanwhile.
func NotCommitted(err error) bool {
	code := Code(err)
	isVerdict := strings.HasPrefix(code, "23") && len(code) == 5 || // a constraint that was deferred
		code == "25P02" // in_failed_sql_transaction
	return isVerdict || Undone(err) || err != nil &&
		(strings.Contains(err.Error(), "commit unexpectedly resulted in rollback") || // pgx
			strings.Contains(err.Error(), "in a failed transaction")) // lib/pq
}
