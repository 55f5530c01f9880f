package health

import (
	"context"
	"database/sql"
	"strings"

	"github.com/holdfast-go/holdfast/internal/dbms"
)

// Stray reports whether an error means that a statement went to another session than the one that prepared it:
// PostgreSQL knows none of that name, or another one. Nothing came of it. A proxy has more errors of the last code.
func Stray(err error) bool {
	switch dbms.Code(err) {
	case "26000", "42P05":
		return true
	case "08P01":
		return strings.Contains(err.Error(), "bind message")
	}
	return false
}

// asked are the connections of which Pooled asks which session they have, in this order. A proxy with one session, or
// one that gives the latest again, shows at the second question; one that deals its sessions out in turn, at the third
// or fourth; and one whose sessions others use as well gives an answer at random each time.
var asked = [...]int{0, 1, 1, 0, 0, 1, 1, 0}

// Pooled reports whether a proxy gives each transaction another session, by a query for the number of the session. No
// transaction is open meanwhile: it would keep a session from others who do the same, while it waits for a second one.
func Pooled(ctx context.Context, db *sql.DB, number string) (pooled bool, err error) {
	defer func() {
		if Stray(err) {
			pooled, err = true, nil
		}
	}()
	var conns [2]*sql.Conn
	var known [2]int64
	for _, i := range asked {
		if conns[i] == nil {
			conn, err := db.Conn(ctx)
			if err != nil {
				return false, err
			}
			defer conn.Close()
			conns[i] = conn
		}
		var now int64
		if err := conns[i].QueryRowContext(ctx, number).Scan(&now); err != nil {
			return false, err
		}
		if known[1-i] == now || known[i] != 0 && known[i] != now {
			return true, nil
		}
		known[i] = now
	}
	return false, nil
}
