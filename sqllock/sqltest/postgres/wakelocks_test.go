package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// However many claims a client has, its wake locks take a quarter of what a connection has in the server's table of
// locks, and those without a wake lock are waited for as well.
func TestWakeLocksLeaveRoom(t *testing.T) {
	t.Parallel()
	const room = 16
	server := servers.Postgres(t, "-c", fmt.Sprint("max_locks_per_transaction=", room))
	holder, db := migrated(t, server)
	waiter := open(t, "postgres://postgres@"+server.Addr+"/postgres?sslmode=disable")
	var held []driver.Claim
	for i := range 3 * room {
		held = append(held, requested(t, holder, fmt.Sprint("jobs ", i), true))
	}
	var readers []driver.Claim
	for range room {
		c := driver.Claim{
			Name: held[0].Name, ID: driver.NewID(), Weight: 1, Limit: driver.All, TTL: time.Minute, Queue: true,
		}
		if st, err := waiter.Request(t.Context(), c); err != nil || st.Granted {
			t.Fatalf("%+v, %v", st, err)
		}
		readers = append(readers, c)
	}
	var most int
	const perSession = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' GROUP BY pid"
	err := db.QueryRow("SELECT coalesce(max(n), 0) FROM (" + perSession + ") l").Scan(&most)
	if err != nil {
		t.Fatal(err)
	}
	if most == 0 || most > room/4+1 { // the last claim may have two
		t.Errorf("the wake locks of a client take %d of %d", most, room)
	}
	last := held[len(held)-1]
	next := requested(t, waiter, last.Name, false)
	if err := holder.Release(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	granted(t, waiter, next)
	if err := holder.Release(t.Context(), held[0]); err != nil {
		t.Fatal(err)
	}
	for _, c := range readers {
		granted(t, waiter, c)
	}
}
