package sessions

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Statements of another program that uses locks of the server itself.
var theirs = map[string]struct{ try, free string }{
	"mariadb":  {"SELECT GET_LOCK(?, 0)", "SELECT RELEASE_LOCK(?)"},
	"postgres": {"SELECT pg_try_advisory_lock($1::bigint)::int", "SELECT pg_advisory_unlock($1::bigint)::int"},
}

// rawNames are those of locks that are the server's own, and rawRefused no such names.
var rawNames, rawRefused = map[string][]string{
	"mariadb": {sqllock.GolangMigrateKey("test:schema_migrations"), "Their Lock"},
	"postgres": {
		sqllock.GolangMigrateKey("postgres", "public", "schema_migrations"),
		sqllock.RailsMigrateKey("postgres"), "-5",
	},
}, map[string][]string{
	"mariadb":  {strings.Repeat("n", 65), "\xff"},
	"postgres": {"jobs", "05", "+5", "9223372036854775808"},
}

// With the raw layout we and programs that lock by themselves exclude each other, both ways.
func TestRaw(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.migrated(t).Addr
			db := s.Pool(t, addr)
			d := opened.Driver(t, s.url(addr)+"&layout=raw")
			for _, name := range rawNames[s.Name] {
				excludeEachOther(t, s, d, db, name)
			}
			for _, name := range rawRefused[s.Name] {
				if _, err := d.Request(t.Context(), rawClaim(name)); !errors.Is(err, driver.ErrInvalidName) {
					t.Errorf("%q: %v, want ErrInvalidName", name, err)
				}
			}
			for _, wrong := range []string{"?layout=raw", "?mode=session&layout=other"} {
				url, _, _ := strings.Cut(s.url(addr), "?")
				d, err := drivertest.Open(t.Context(), url+wrong)
				if err == nil || !strings.Contains(err.Error(), "layout") {
					t.Errorf("%s: %v, %v", wrong, d, err)
				}
			}
		})
	}
}

func rawClaim(name string) driver.Claim {
	return driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: time.Minute}
}

func excludeEachOther(t *testing.T, s server, d *drivertest.Facade, db *sql.DB, name string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	they := func(statement string) (did bool) {
		t.Helper()
		if err := conn.QueryRowContext(t.Context(), statement, name).Scan(&did); err != nil {
			t.Fatal(err)
		}
		return did
	}
	if !they(theirs[s.Name].try) {
		t.Fatalf("%q is taken", name)
	}
	if st, err := d.Request(t.Context(), rawClaim(name)); err != nil || st.Granted {
		t.Errorf("%q beside them: %+v, %v", name, st, err)
	}
	waiter := rawClaim(name)
	waiter.Queue = true
	if st, err := d.Request(t.Context(), waiter); err != nil || st.Granted {
		t.Fatalf("%q beside them: %+v, %v", name, st, err)
	}
	they(theirs[s.Name].free)
	waiter.Token = awaitRaw(t, d, waiter).Token
	if they(theirs[s.Name].try) {
		t.Errorf("%q: they have what we hold", name)
	}
	if err := d.Release(t.Context(), waiter); err != nil {
		t.Fatal(err)
	}
	if !they(theirs[s.Name].try) || !they(theirs[s.Name].free) {
		t.Errorf("%q: they do not get what we released", name)
	}
}

// awaitRaw waits until a claim is granted, as a caller does.
func awaitRaw(t *testing.T, d *drivertest.Facade, c driver.Claim) driver.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		st, err := d.Wait(ctx, c)
		if err == nil && !st.Granted {
			st, err = d.Request(ctx, c)
		}
		if err != nil {
			t.Fatalf("Wait: %v", err)
		}
		if st.Granted {
			return st
		}
	}
}

// A lock of the server and one of Holdfast's own with the same name are two: who gets one takes the other from nobody.
func TestRawBesideOurs(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.migrated(t).Addr
			raw, ours := opened.Driver(t, s.url(addr)+"&layout=raw"), opened.Driver(t, s.url(addr))
			name := rawNames[s.Name][0]
			claims := map[*drivertest.Facade]driver.Claim{raw: rawClaim(name), ours: rawClaim(name)}
			for d, c := range claims {
				if st, err := d.Request(t.Context(), c); err != nil || !st.Granted {
					t.Errorf("Request: %+v, %v", st, err)
				}
			}
			for d, c := range claims {
				if st, err := d.Request(t.Context(), c); err != nil || !st.Granted {
					t.Errorf("renewal: %+v, %v", st, err)
				}
				if err := d.Release(t.Context(), c); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
		})
	}
}

// Whoever removes what is left, in whichever layout, spares what is held in either, and takes the rest.
func TestReapBesideRaw(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.migrated(t).Addr
			raw, ours := s.url(addr)+"&layout=raw", s.url(addr)
			held := map[string]driver.Claim{raw: rawClaim(rawNames[s.Name][0]), ours: rawClaim("held")}
			used := map[string]driver.Claim{raw: rawClaim("77"), ours: rawClaim("used")}
			for url, c := range held {
				d := opened.Driver(t, url)
				c.Token = request(t, d, c).Token
				held[url] = c
				request(t, d, used[url])
				if err := d.Release(t.Context(), used[url]); err != nil {
					t.Fatal(err)
				}
			}
			reaped := make(map[driver.Leftover]bool)
			for url := range held {
				driver.Sleep(t.Context(), 10*time.Millisecond) // nothing is younger than what is reaped
				removed, err := driver.Reap(t.Context(), opened.Driver(t, url), time.Millisecond)
				if err != nil {
					t.Error(err)
				}
				for _, l := range removed {
					reaped[l] = true
				}
			}
			for url, c := range held {
				if reaped[driver.Leftover{Kind: "last token", Name: c.Name}] {
					t.Errorf("%q: the token of a lock that is held was removed", c.Name)
				}
				if !reaped[driver.Leftover{Kind: "last token", Name: used[url].Name}] {
					t.Errorf("%q: the token of a lock that is free was not removed", used[url].Name)
				}
				if err := opened.Driver(t, url).Release(t.Context(), c); err != nil {
					t.Errorf("%q: a release by another client: %v", c.Name, err)
				}
			}
		})
	}
}
