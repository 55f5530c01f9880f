package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A standby that lacks the last commits is promoted. A lock that it knows is held as before. One that it does not know
// is free there, and its holder learns that it has lost it when it next asks; whoever gets it meanwhile has a greater
// token, so that the resource refuses the earlier holder.
func TestPromotedStandby(t *testing.T) {
	t.Parallel()
	primary := servers.Postgres(t)
	migrated(t, primary)
	replication, clients := proxy.New(t, primary.Addr), proxy.New(t, primary.Addr)
	standby := servers.PostgresStandby(t, replication.Addr)
	url := "postgres://postgres@" + clients.Addr + "/postgres?sslmode=disable"
	holder := open(t, url)
	claim := func(name string) driver.Claim {
		return driver.Claim{Name: name, ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour}
	}
	must := func(d *drivertest.Facade, c driver.Claim) driver.Claim {
		t.Helper()
		st, err := d.Request(t.Context(), c)
		if err != nil || !st.Granted {
			t.Fatalf("%s: %+v, %v", c.Name, st, err)
		}
		c.Token = st.Token
		return c
	}
	known := must(holder, claim("known"))
	db := database(t, "postgres://postgres@"+standby.Addr+"/postgres?sslmode=disable")
	for n := 0; n == 0; driver.Sleep(t.Context(), 10*time.Millisecond) {
		const held = "SELECT count(*) FROM holdfast_locks WHERE name = 'known' AND id <> ''"
		if err := db.QueryRow(held).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if findings, err := driver.Check(t.Context(), open(t, urlOf(standby)), false); err != nil || !isReplica(findings) {
		t.Errorf("a look at the standby: %+v, %v", findings, err)
	}
	replication.BlackHole()
	unknown := must(holder, claim("unknown"))

	primary.Kill(t)
	run(t, db, "SELECT pg_promote()")
	clients.Lead(standby.Addr)
	clients.Reset()
	other := open(t, url)
	next := must(other, claim("unknown"))
	if next.Token <= unknown.Token {
		t.Errorf("the next holder has the token %d after %d", next.Token, unknown.Token)
	}
	if st, err := other.Request(t.Context(), claim("known")); err != nil || st.Granted {
		t.Errorf("a lock that the standby knew is given again: %+v, %v", st, err)
	}
	results, err := holder.Renew(t.Context(), []driver.Claim{known, unknown})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Err != nil || !results[0].Status.Granted || !errors.Is(results[1].Err, driver.ErrGone) {
		t.Errorf("the holder is told %+v", results)
	}
}

func urlOf(s *servers.Server) string {
	return "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"
}

// isReplica reports whether a look has found a server that cannot write because it follows another.
func isReplica(findings []driver.Finding) bool {
	for _, f := range findings {
		if f.Fact == "pg_is_in_recovery is true" && f.Level == driver.Unsafe {
			return true
		}
	}
	return false
}
