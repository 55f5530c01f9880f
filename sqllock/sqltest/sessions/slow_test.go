package sessions

import (
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// logsSlow has, for each server, the arguments that make it log statements that take a second, and how many of those
// that wait for a lock it has logged.
var logsSlow = map[string]struct {
	args   []string
	logged func(*testing.T, *servers.Server, *sql.DB) int64
}{
	"mariadb": {
		args: []string{"--slow-query-log=1", "--long-query-time=1", "--log-output=TABLE"},
		logged: func(t *testing.T, _ *servers.Server, db *sql.DB) int64 {
			return number(t, db, "SELECT COUNT(*) FROM mysql.slow_log WHERE sql_text LIKE '%GET_LOCK(%'")
		},
	},
	"postgres": {
		args: []string{"-c", "log_min_duration_statement=1s", "-c", "log_lock_waits=on"},
		logged: func(t *testing.T, s *servers.Server, _ *sql.DB) int64 {
			return int64(strings.Count(s.Log(t), "pg_advisory_lock"))
		},
	},
}

// A session that waits for a lock does so in statements that take less than a second each, so that the server has
// nothing to log.
func TestWaitsAreNotSlow(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			if s.isTooOld() {
				t.Skip("TestTooOld is about this version")
			}
			t.Parallel()
			slow, ok := logsSlow[s.Name]
			if !ok {
				t.Fatalf("nothing is known of %s", s.Name)
			}
			running := s.Start(t, slices.Concat(s.Room, slow.args)...)
			if err := sqllock.MigrateURL(t.Context(), s.url(running.Addr)); err != nil {
				t.Fatal(err)
			}
			db := s.Pool(t, running.Addr)
			holder, waiter := s.open(t, running.Addr), s.open(t, running.Addr)
			held := claim(t, time.Minute)
			held.Token = acquire(t, holder, held).Token
			pace.Run(t, "for a while", func(t *pace.T) {
				t.Margin(100 * time.Millisecond)
				before := slow.logged(t.T, running, db)
				next := claim(t.T, time.Minute)
				next.Name = held.Name
				request(t.T, waiter, next)
				var all sync.WaitGroup
				all.Go(func() { waiter.Wait(t.Context(), next) })
				driver.Sleep(t.Context(), t.Scaled(3*time.Second)) // as long as the holder works
				waiter.Release(t.Context(), next)
				if n := slow.logged(t.T, running, db) - before; n > 0 {
					t.Errorf("the server has logged %d waits", n)
				}
				t.Cleanup(all.Wait) // the context has ended
			})
		})
	}
}
