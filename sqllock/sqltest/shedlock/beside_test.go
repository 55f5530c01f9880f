package shedlock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

func claimOf(name string) driver.Claim {
	return driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: time.Minute, Owner: "host ☃: 4711"}
}

func request(t testing.TB, d *drivertest.Facade, c driver.Claim) driver.Status {
	t.Helper()
	st, err := d.Request(t.Context(), c)
	if err != nil {
		t.Fatalf("Request: %v", err)
	}
	return st
}

// zones are those of the servers' sessions, by their arguments: that of UTC, and one where no clock shows its time.
var zones = map[string]struct{ mariadb, postgres []string }{
	"utc":   {nil, nil},
	"ahead": {[]string{"--default-time-zone=+05:30"}, []string{"-c", "timezone=Asia/Kolkata"}},
}

// Programs with ShedLock and ours exclude each other, both ways, whatever the zone of the server's sessions and
// whichever clock they go by; and the end of a lock is where it belongs, not hours away.
func TestExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		for zone, args := range zones {
			t.Run(s.Name+"/"+zone, func(t *testing.T) {
				t.Parallel()
				more := map[string][]string{"mariadb": args.mariadb, "postgres": args.postgres}[s.Name]
				addr := s.begin(t, more...).Addr
				d := s.open(t, addr)
				for clock, st := range map[string]statements{"database": dbTime[s.Name], "own": ownTime[s.Name]} {
					t.Run(clock, func(t *testing.T) {
						p := peer{s.Pool(t, addr), st, "java-host", time.Now}
						excludeEachOther(t, s, d, p, "job of "+clock)
					})
				}
			})
		}
	}
}

func excludeEachOther(t *testing.T, s server, d *drivertest.Facade, p peer, name string) {
	if !p.lock(t, s, name, atMost) {
		t.Fatal("they do not get a lock that is free")
	}
	st := request(t, d, claimOf(name))
	if st.Granted || st.Retry > atMost || st.Retry < atMost/2 {
		t.Errorf("while they have the lock for %v: %+v", atMost, st)
	}
	if !p.send(t, s, p.extend, name, 2*atMost) {
		t.Error("they cannot extend their lock")
	}
	if st := request(t, d, claimOf(name)); st.Granted || st.Retry > 2*atMost || st.Retry < atMost {
		t.Errorf("while they have the lock for %v: %+v", 2*atMost, st)
	}
	waiter := claimOf(name)
	waiter.Queue = true
	if st := request(t, d, waiter); st.Granted {
		t.Fatalf("beside them: %+v", st)
	}
	p.free(t, s, name)
	held := await(t, d, waiter)
	waiter.Token = held.Token
	if age := time.Since(time.UnixMilli(int64(held.Token))); age < -time.Minute || age > time.Minute {
		t.Errorf("the token is a time %v ago", age)
	}
	if p.lock(t, s, name, atMost) || p.send(t, s, p.extend, name, atMost) {
		t.Error("they get, or extend, what we hold")
	}
	p.free(t, s, name) // of a lock that they have lost
	if st := request(t, d, waiter); !st.Granted {
		t.Errorf("after they gave back what they had lost: %+v", st)
	}
	if err := d.Release(t.Context(), waiter); err != nil {
		t.Error(err)
	}
	if !p.lock(t, s, name, atMost) {
		t.Error("they do not get what we gave back")
	}
	if err := d.Release(t.Context(), waiter); err != nil {
		t.Errorf("the same release again: %v", err)
	}
	if p.lock(t, s, name, atMost) {
		t.Error("they get what they have")
	}
	p.free(t, s, name)
	if st := request(t, d, claimOf(name)); !st.Granted || st.Token <= held.Token {
		t.Errorf("after them: %+v, want a token above %d", st, held.Token)
	}
}

// await waits until a claim is granted, as a caller does.
func await(t testing.TB, d *drivertest.Facade, c driver.Claim) driver.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err := d.Wait(ctx, c); err != nil {
			t.Fatalf("Wait: %v", err)
		}
		if st := request(t, d, c); st.Granted {
			return st
		}
	}
}

// On one server of a kind:
func TestBeside(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			for name, test := range map[string]func(*testing.T, server, string){
				"expired": expiredLocksPassOn, "share": share, "min hold": minHold, "show and break": showAndBreak,
				"freed by name": freedByName,
			} {
				t.Run(name, func(t *testing.T) { test(t, s, addr) })
			}
		})
	}
}

// A lock of theirs that expires is ours, and ours is theirs.
func expiredLocksPassOn(t *testing.T, s server, addr string) {
	d := s.open(t, addr)
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	p.lock(t, s, "expired", 200*time.Millisecond)
	c := claimOf("expired")
	c.Queue, c.TTL = true, 200*time.Millisecond
	await(t, d, c)
	for end := time.Now().Add(patience); !p.lock(t, s, "expired", atMost); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("they do not get a lock that we left to its TTL")
		}
	}
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a late request of the claim that has expired: %v, want ErrGone", err)
	}
}

// Two clients of ours and two programs with ShedLock share a lock: never are two inside, and all have their turns.
func share(t *testing.T, s server, addr string) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var inside, turns atomic.Int32
	visit := func() {
		if inside.Add(1) != 1 {
			t.Error("two are inside")
		}
		time.Sleep(time.Millisecond) // the section
		inside.Add(-1)
	}
	const often = 10
	var done sync.WaitGroup
	for i := range 2 {
		client := holdfast.New(s.open(t, addr))
		t.Cleanup(func() { client.Close(context.Background()) })
		done.Go(func() {
			for range often {
				err := client.Mutex("shared").Do(ctx, func(context.Context, *holdfast.Lease) error {
					visit()
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				turns.Add(1)
			}
		})
		p := peer{s.Pool(t, addr), dbTime[s.Name], fmt.Sprint("java-host-", i), time.Now}
		done.Go(func() {
			for range often {
				for !p.lock(t, s, "shared", atMost) {
					if driver.Sleep(ctx, 5*time.Millisecond) != nil {
						t.Error("one of theirs was starved")
						return
					}
				}
				visit()
				p.free(t, s, "shared")
				turns.Add(1)
				time.Sleep(2 * time.Millisecond) // ShedLock's jobs do not come back at once
			}
		})
	}
	done.Wait()
	if n := turns.Load(); n != 4*often && !t.Failed() {
		t.Errorf("%d turns", n)
	}
}

// A lock that is kept for its minimum hold is taken for them, too, after its release and after the end of the client.
func minHold(t *testing.T, s server, addr string) {
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	client := holdfast.New(s.open(t, addr))
	work := func(context.Context, *holdfast.Lease) error { return nil }
	if err := client.Mutex("tick", holdfast.WithMinHold(time.Hour)).Do(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.lock(t, s, "tick", atMost) {
		t.Error("they get a lock within its minimum hold")
	}
}

// People see who has a lock of theirs, and can take it away.
func showAndBreak(t *testing.T, s server, addr string) {
	d := s.open(t, addr)
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	p.lock(t, s, "shown", atMost)
	waiter := claimOf("shown")
	waiter.Queue = true
	request(t, d, waiter)
	queue, err := d.Queue(t.Context(), "shown")
	if err != nil || len(queue) != 2 || !queue[0].Granted || queue[0].Owner != "java-host" || queue[0].Left > atMost ||
		queue[1].Granted || queue[1].ID != waiter.ID || queue[1].Owner != waiter.Owner {
		t.Fatalf("the queue is %+v, %v", queue, err)
	}
	if err := d.Break(t.Context(), "shown", queue[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := d.Break(t.Context(), "shown", queue[0].ID); !errors.Is(err, driver.ErrGone) {
		t.Errorf("once more: %v, want ErrGone", err)
	}
	waiter.Token = request(t, d, waiter).Token
	if waiter.Token == 0 {
		t.Fatal("a lock that was broken is not free")
	}
	var by string
	if err := p.QueryRow("SELECT locked_by FROM shedlock WHERE name = 'shown'").Scan(&by); err != nil ||
		by != "holdfast:"+waiter.ID+"@host ?: 4711" {
		t.Errorf("locked_by is %q, %v", by, err)
	}
}

// An older ShedLock that goes by its own clock frees a lock by its name, whoever has it: the holder learns that as soon
// as it asks, and frees nothing that others have then.
func freedByName(t *testing.T, s server, addr string) {
	d := s.open(t, addr)
	old := ownTime[s.Name]
	old.unlock = strings.TrimSuffix(old.unlock, " AND locked_by = :by")
	p := peer{s.Pool(t, addr), old, "java-host", time.Now}
	c := claimOf("by name")
	c.Token = request(t, d, c).Token
	p.free(t, s, "by name")
	if !p.lock(t, s, "by name", atMost) {
		t.Fatal("they do not get what they have freed")
	}
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a renewal: %v, want ErrGone", err)
	}
	if err := d.Release(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a release: %v, want ErrGone", err)
	}
	if st := request(t, d, claimOf("by name")); st.Granted {
		t.Errorf("while they have the lock: %+v", st)
	}
}

// What the table cannot have is refused, and so is a table that is not ShedLock's, with what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.Start(t, s.Room...).Addr
			url := s.URL(addr) + "?layout=shedlock"
			exec := func(statement string) {
				t.Helper()
				if _, err := s.Pool(t, addr).Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			refused(t, url, "holdfast migrate")
			if err := migrate(t, url); err != nil {
				t.Fatal(err)
			}
			refused(t, url, "CREATE TABLE shedlock (name VARCHAR(64)")
			refused(t, url+"&table=jobs", "CREATE TABLE jobs (name VARCHAR(64)")
			refused(t, url+"&table=a-b", "the table \"a-b\"")
			refused(t, url+"&mode=session", "leave out the mode")
			refused(t, s.URL(addr)+"?table=jobs", "leave out the table")
			exec("CREATE TABLE wrong (name VARCHAR(64) PRIMARY KEY," +
				" lock_until BIGINT, locked_at BIGINT, locked_by VARCHAR(255))")
			refused(t, url+"&table=wrong", "lock_until is a")
			exec(strings.NewReplacer("shedlock", "rough", "(3)", "", "TIMESTAMP ", "TIMESTAMP(0) ").Replace(s.table))
			refused(t, url+"&table=rough", "0 digits after the second")
			if s.Name == "postgres" {
				exec(strings.NewReplacer("shedlock", "zoned", "TIMESTAMP", "TIMESTAMPTZ").Replace(s.table))
				refused(t, url+"&table=zoned", "AT TIME ZONE 'UTC'")
			}
			if s.Name == "mariadb" {
				exec(strings.Replace(s.table, "shedlock", "unseen", 1))
				exec("SET GLOBAL autocommit = 0")
				refused(t, url+"&table=unseen", "autocommit")
				exec("SET GLOBAL autocommit = 1")
			}
			exec(strings.NewReplacer("shedlock", "narrow", "255", "32").Replace(s.table))
			_, err := s.open(t, addr, "table=narrow").Request(t.Context(), claimOf("job"))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "VARCHAR(255)") {
				t.Errorf("in a narrow column: %v", err)
			}
			exec(strings.Replace(s.table, "shedlock", "jobs", 1))
			d := s.open(t, addr, "table=jobs")
			for _, name := range []string{"", strings.Repeat("n", 65), "\xff", "a\x00"} {
				if _, err := d.Request(t.Context(), claimOf(name)); !errors.Is(err, driver.ErrInvalidName) {
					t.Errorf("%q: %v, want ErrInvalidName", name, err)
				}
			}
			request(t, d, claimOf(strings.Repeat("n", 64)))
			shared := claimOf("jobs")
			shared.Limit = 2
			if _, err := d.Request(t.Context(), shared); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("a semaphore: %v, want ErrUnsupported", err)
			}
		})
	}
}

func refused(t *testing.T, url, want string) {
	t.Helper()
	d, err := drivertest.Open(t.Context(), url)
	if err == nil {
		d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Open: %v; want an error with %q", err, want)
	}
}

// In a column that tells no upper case from lower case, a lock has one name, and the other is an error that says so. It
// leaves the lock as it was.
func TestNamesThatCompareAsEqual(t *testing.T) {
	t.Parallel()
	fold := map[string][]string{"postgres": {
		"CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
		"ALTER TABLE shedlock ALTER name TYPE VARCHAR(64) COLLATE folded",
	}}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
			for _, statement := range fold[s.Name] {
				if _, err := p.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			d := s.open(t, addr)
			p.lock(t, s, "Nightly", atMost)
			p.free(t, s, "Nightly")
			if _, err := d.Request(t.Context(), claimOf("nightly")); !errors.Is(err, driver.ErrInvalidName) ||
				!strings.Contains(err.Error(), `"Nightly"`) {
				t.Errorf("%v, want ErrInvalidName with the other name", err)
			}
			if st := request(t, d, claimOf("Nightly")); !st.Granted {
				t.Errorf("%+v", st)
			}
		})
	}
}

// The column of names may have another collation than the connection, and another character set.
func TestCollations(t *testing.T) {
	t.Parallel()
	s := all[0]
	addr := s.begin(t).Addr
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	for _, collation := range []string{
		"utf8mb4_unicode_ci", "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb3_general_ci", "latin1_swedish_ci",
	} {
		t.Run(collation, func(t *testing.T) {
			charset, _, _ := strings.Cut(collation, "_")
			convert := "ALTER TABLE shedlock CONVERT TO CHARACTER SET " + charset + " COLLATE " + collation
			if _, err := p.ExecContext(t.Context(), convert); err != nil {
				t.Fatal(err)
			}
			d := s.open(t, addr)
			excludeEachOther(t, s, d, p, "Jöb of "+collation)
			if charset == "latin1" {
				if _, err := d.Request(t.Context(), claimOf("☃")); !errors.Is(err, driver.ErrInvalidName) {
					t.Errorf("%v, want ErrInvalidName", err)
				}
			}
		})
	}
}
