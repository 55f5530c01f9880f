package shedlock

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Whoever can write ShedLock's table can write into locked_by what he wants. None of it is run as SQL by people who
// look at the lock and break it, and such a lock can be broken as any other.
func TestHostileHolder(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			db := s.Pool(t, addr)
			d := s.open(t, addr)
			exec := func(statement string) {
				t.Helper()
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			exec("CREATE TABLE victim (n INT)")
			c := claimOf("nightly")
			request(t, d, c)
			for _, by := range []string{
				"holdfast:x' RETURNING 1) SELECT 1; DROP TABLE victim; COMMIT; --@",
				"holdfast:x' OR 1=1 -- @",
				"holdfast:@",
				`holdfast:\@`,
				"holdfast:" + strings.Repeat("x", 65) + "@",
			} {
				exec("UPDATE shedlock SET locked_at = locked_at + INTERVAL '1' SECOND, locked_by = " + quote(s, by))
				queue, err := d.Queue(t.Context(), "nightly")
				if err != nil || len(queue) != 1 || queue[0].Owner != by {
					t.Fatalf("%q: the queue is %+v, %v", by, queue, err)
				}
				for _, id := range []string{strings.TrimSuffix(strings.TrimPrefix(by, "holdfast:"), "@"), "", by} {
					if err := d.Break(t.Context(), "nightly", id); !errors.Is(err, driver.ErrGone) {
						t.Errorf("break %q: %v, want ErrGone", id, err)
					}
				}
				if err := d.Break(t.Context(), "nightly", queue[0].ID); err != nil {
					t.Errorf("break what has %q: %v", by, err)
				}
				next := claimOf("nightly")
				if st := request(t, d, next); !st.Granted {
					t.Fatalf("after %q was broken: %+v", by, st)
				}
			}
			exec("SELECT n FROM victim")
		})
	}
}

// quote is a literal.
func quote(s server, text string) string {
	if s.Name == "mariadb" {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
