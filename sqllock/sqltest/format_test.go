package sqltest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

// A program does not touch what a newer one has written, neither when it opens the file nor when that happens while it
// is open; and it says what to do.
func TestNewerFormat(t *testing.T) {
	path := newFile(t)
	d, c := open(t, path), mutex("m")
	request(t, d, c, true)
	change(t, path, "UPDATE holdfast_store SET format = format + 1")

	_, opened := driver.Open(t.Context(), fileURL(path))
	_, requested := d.Request(t.Context(), c)
	_, looked := d.Queue(t.Context(), "m")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, waited := driver.Wait(ctx, d, c)
	for what, err := range map[string]error{
		"Open": opened, "Request": requested, "Release": d.Release(t.Context(), c), "Queue": looked, "Wait": waited,
	} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format 3") ||
			!strings.Contains(err.Error(), "upgrade") {
			t.Errorf("%s: %v; want a refusal that says which format it is and what to do", what, err)
		}
	}
	if n := count(t, path, "SELECT count(*) FROM holdfast_claims"); n != 1 {
		t.Errorf("%d claims are left of 1", n)
	}
}

// What a program of the previous format holds and waits for, counts.
func TestPreviousFormat(t *testing.T) {
	path := newFile(t)
	held, waiting := writePreviousFormat(t, path)
	d := open(t, path)

	queue, err := d.Queue(t.Context(), "m")
	if err != nil || len(queue) != 2 || queue[0].ID != held.ID || queue[0].Owner != "old" ||
		!queue[0].Granted || queue[1].Granted {
		t.Fatalf("the queue is %+v, %v", queue, err)
	}
	next := mutex("m")
	if st := request(t, d, next, false); st.Token <= waiting.Token {
		t.Errorf("token %d after %d", st.Token, waiting.Token)
	}
	request(t, d, held, true)
	if err := driver.Revoke(t.Context(), d, "m", held.ID); err != nil { // which format 1 does not know
		t.Error(err)
	}
	for _, c := range []driver.Claim{held, waiting} {
		if err := d.Release(t.Context(), c); err != nil {
			t.Errorf("Release(%s): %v", c.ID, err)
		}
	}
	awaitGrant(t, d, next)
}

// writePreviousFormat makes a file as a program of the previous format would, in which one claim is held and another
// waits.
func writePreviousFormat(t *testing.T, path string) (held, waiting driver.Claim) {
	t.Helper()
	tables, err := os.ReadFile("../internal/sqlite/sql/format1.sql")
	if err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("this system does not tell its boots apart")
	}
	change(t, path, string(tables))
	change(t, path, "UPDATE holdfast_store SET boot = ?", strings.TrimSpace(string(boot)))
	held, waiting = mutex("m"), mutex("m")
	held.Token, waiting.Token = 1000, 1001
	sinceBoot, _ := boottime.Now()
	for _, c := range []driver.Claim{held, waiting} {
		change(t, path, `INSERT INTO holdfast_claims
			(name, token, id, weight, units, ttl, deadline, since, client, detached, granted, owner, value)
			VALUES (?, ?, ?, 1, 1, ?, ?, ?, 'old', 1, ?, ?, ?)`,
			[]byte(c.Name), int64(c.Token), c.ID, int64(c.TTL), int64(sinceBoot+c.TTL), time.Now().UnixMicro(),
			c.ID == held.ID, []byte("old"), []byte("value"))
	}
	change(t, path, "INSERT INTO holdfast_fences (name, token) VALUES (?, ?)", []byte("m"), int64(waiting.Token))
	return held, waiting
}

// Formats that were given up long ago are refused, too.
func TestForgottenFormat(t *testing.T) {
	path := newFile(t)
	open(t, path)
	change(t, path, "UPDATE holdfast_store SET format = 0")
	if _, err := driver.Open(t.Context(), fileURL(path)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("Open: %v, want ErrRefused", err)
	}
}
