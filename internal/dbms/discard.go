package dbms

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"reflect"
	"time"
)

// Discard ends the session behind a connection. It gives the connection back to nobody, and is no error where it was
// gone.
func Discard(c *sql.Conn) error {
	err := c.Raw(func(driverConn any) error {
		hangUp(driverConn)
		return sqldriver.ErrBadConn
	})
	if errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// hangUpTime is how long the server may take to hear that a session ends. The connection is closed without, then.
const hangUpTime = time.Second

// hangUp closes what is behind a connection of package sql, as far as that tells. One that pgx has from a pool of its
// own would go back there, with all that the session holds; it does not where it is closed.
func hangUp(driverConn any) {
	method := reflect.ValueOf(driverConn).MethodByName("Conn")
	if !method.IsValid() || method.Type().NumIn() > 0 || method.Type().NumOut() != 1 {
		return
	}
	if behind, ok := method.Call(nil)[0].Interface().(interface{ Close(context.Context) error }); ok {
		ctx, cancel := context.WithTimeout(context.Background(), hangUpTime)
		defer cancel()
		behind.Close(ctx) // it is of no use, whatever that says
	}
}
