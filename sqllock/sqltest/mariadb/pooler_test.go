package mariadb

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Where a proxy is said to give each transaction another session, nothing of ours is left in a session, and who waits
// is granted the lock nevertheless: by a release, together with others who share it, and when its holder has died.
func TestPoolerInURL(t *testing.T) {
	t.Parallel()
	addr := servers.MariaDB(t).Addr
	pooled := "mysql://root@" + addr + "/test?pooler=transaction"
	if err := sqllock.MigrateURL(t.Context(), pooled); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "root@tcp("+addr+")/information_schema")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	open := func() *drivertest.Facade {
		d, err := drivertest.Open(ctx, pooled)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	request := func(d *drivertest.Facade, limit int64, ttl time.Duration, granted bool) driver.Claim {
		c := driver.Claim{Name: t.Name(), ID: driver.NewID(), Weight: 1, Limit: limit, TTL: ttl, Queue: true}
		st, err := d.Request(ctx, c)
		if err != nil || st.Granted != granted {
			t.Fatalf("Request: %+v, %v; want granted: %v", st, err, granted)
		}
		c.Token = st.Token
		return c
	}
	await := func(d *drivertest.Facade, c driver.Claim) {
		for {
			st, err := d.Wait(ctx, c)
			if err == nil && st == (driver.Status{}) {
				st, err = d.Request(ctx, c)
			}
			if err != nil {
				t.Fatal(err)
			}
			if st.Granted {
				return
			}
		}
	}

	holder, waiter, dead := open(), open(), open()
	held := request(holder, 1, time.Minute, true)
	var readers []driver.Claim
	for range 3 {
		readers = append(readers, request(waiter, driver.All, time.Minute, false))
	}
	mortal := request(dead, 1, time.Second, false)
	last := request(waiter, 1, time.Minute, false)
	if err := holder.Release(ctx, held); err != nil {
		t.Fatal(err)
	}
	for _, c := range readers {
		await(waiter, c)
	}
	for _, c := range append(readers, last) {
		var user sql.NullInt64
		wakeLock := "CONCAT('holdfast:', LEFT(SHA2(CONCAT('test', ':', '" + c.ID + "'), 256), 40), ':end')"
		if err := db.QueryRow("SELECT IS_USED_LOCK(" + wakeLock + ")").Scan(&user); err != nil || user.Valid {
			t.Errorf("session %v has a wake lock, %v", user.Int64, err)
		}
	}
	for _, c := range readers {
		if err := waiter.Release(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	await(waiter, last)
	if _, err := dead.Request(ctx, mortal); err == nil {
		t.Error("the claim of the dead lives on")
	}
}
