package claimstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// What somebody does to the rows of one lock costs no other lease of the same client, also while a request
// for that lock waits.
func testBusyRow(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	busy, free := request(t, d, mutex(t.Name()+" busy"), true), request(t, d, mutex(t.Name()+" free"), true)
	renew := func() []driver.Result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		results, err := d.Renew(ctx, []driver.Claim{busy, free})
		if err != nil {
			t.Fatalf("Renew: %v", err)
		}
		return results
	}
	renew()
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	for _, table := range []string{"locks", "claims"} {
		execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_%s WHERE name = '%s' FOR UPDATE", table, busy.Name))
	}
	next := mutex(busy.Name)
	answer := s.ask(t, db, func(ctx context.Context) error {
		_, err := d.Request(ctx, next)
		return err
	})
	results := renew()
	if r := results[0]; r.Err == nil || errors.Is(r.Err, driver.ErrGone) || errors.Is(r.Err, driver.ErrRefused) {
		t.Errorf("the claim whose row is taken: %+v, want an error that is no answer", r)
	}
	if r := results[1]; r.Err != nil || !r.Status.Granted {
		t.Errorf("the other claim: %+v", r)
	}
	finish(t, tx, "the request", answer)
	for i, r := range renew() {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("claim %d afterwards: %+v", i, r)
		}
	}
	release(t, d, free)
	release(t, d, busy)
	release(t, d, next)
}

// The same where a release was only noted in the row of that lock, which the next renewal of who waits would carry out.
func testBusyRowsOfANote(t *testing.T, s Store) {
	db, d, other := s.admin(t), s.client(t), s.client(t)
	released := request(t, other, mutex(t.Name()+" busy"), true)
	busy, free := request(t, d, mutex(released.Name), false), request(t, d, mutex(t.Name()+" free"), true)
	release(t, other, released)
	s.wantNoted(t, released)
	changeAll(t, db, s.Rival.Prepare)
	for _, taken := range []driver.Claim{released, busy} {
		tx := s.rival(t, db)
		defer tx.Rollback()
		execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' AND id = '%s' FOR UPDATE",
			taken.Name, taken.ID))
		ctx, cancel := context.WithTimeout(t.Context(), patience/4)
		defer cancel()
		results, err := d.Renew(ctx, []driver.Claim{busy, free})
		if err != nil {
			t.Fatalf("Renew beside the row of %d: %v", taken.Token, err)
		}
		if r := results[0]; r.Err == nil || errors.Is(r.Err, driver.ErrGone) || errors.Is(r.Err, driver.ErrRefused) {
			t.Errorf("the claim that waits: %+v, want an error that is no answer", r)
		}
		if r := results[1]; r.Err != nil || !r.Status.Granted {
			t.Errorf("the other claim: %+v", r)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	results, err := d.Renew(t.Context(), []driver.Claim{busy, free})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("claim %d afterwards: %+v", i, r)
		}
	}
	release(t, d, free)
	release(t, d, busy)
}

// It takes no longer where many wait for that lock over one client.
func testBusyRowsOfANoteForMany(t *testing.T, s Store) {
	const many = 400
	db, d, other := s.admin(t), s.client(t), s.client(t)
	released := request(t, other, mutex(t.Name()), true)
	waiting := make([]driver.Claim, many)
	for i := range waiting {
		waiting[i] = request(t, d, mutex(released.Name), false)
	}
	release(t, other, released)
	s.wantNoted(t, released)
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' AND id = '%s' FOR UPDATE",
		released.Name, released.ID))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pace.Run(t, "renewal", func(t *pace.T) {
		began := time.Now()
		if _, err := d.Renew(ctx, waiting); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if took > t.Scaled(10*time.Second) { // as it does with a moment's wait for each of them, twice
			t.Errorf("a renewal of %d took %v", many, took)
		}
	})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// So it is where several share the lock next, and it is the last of them whose row is locked.
func testBusyRowsOfANoteForReaders(t *testing.T, s Store) {
	db, d, other := s.admin(t), s.client(t), s.client(t)
	shares := func(weight int64) driver.Claim {
		c := mutex(t.Name())
		c.Weight, c.Limit, c.TTL = weight, driver.All, 20*time.Second // a part of which locked rows are asked for again
		return c
	}
	released := request(t, other, shares(driver.All), true)
	readers := []driver.Claim{request(t, d, shares(1), false), request(t, d, shares(1), false)}
	release(t, other, released)
	s.wantNoted(t, released)
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' AND id = '%s' FOR UPDATE",
		released.Name, readers[1].ID))
	pace.Run(t, "renewals", func(t *pace.T) {
		t.Margin(200 * time.Millisecond)
		quickest := patience
		for range 3 {
			began := time.Now()
			if _, err := d.Renew(t.Context(), readers); err != nil {
				t.Fatal(err)
			}
			quickest = min(quickest, time.Since(began))
		}
		if quickest > t.Scaled(time.Second) { // for so long a session waits at least, if it does
			t.Errorf("a renewal took %v", quickest)
		}
	})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// The row of one that waits for more than that release is in the way of nobody else, whether two may have the lock next
// or one alone.
func testBusyRowsBehindANote(t *testing.T, s Store) {
	db, d, other := s.admin(t), Unfollow(s.client(t)), s.client(t)
	changeAll(t, db, s.Rival.Prepare)
	for next := range 2 {
		permits := func(n int) driver.Claim {
			c := mutex(fmt.Sprint(t.Name(), next))
			c.Weight, c.Limit, c.TTL = int64(n), int64(next+1), time.Minute // see above
			return c
		}
		released := request(t, other, permits(next+1), true)
		var waiting []driver.Claim
		for range next + 2 {
			waiting = append(waiting, request(t, d, permits(1), false))
		}
		release(t, other, released)
		s.wantNoted(t, released)
		tx := s.rival(t, db)
		defer tx.Rollback()
		execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' AND id = '%s' FOR UPDATE",
			released.Name, waiting[next+1].ID))
		for i, r := range d.Renew(t.Context(), waiting)[:next+1] {
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("claim %d, which is one of the next %d: %+v", i, next+1, r)
			}
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// A renewal that finds its row locked is answered if that is over in a moment. A moment is a part of the TTL.
func testRowLockedForAMoment(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	busy, free := request(t, d, mutex(t.Name()+" busy"), true), request(t, d, mutex(t.Name()+" free"), true)
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' FOR UPDATE", busy.Name))
	before := free.TTL
	busy.TTL, free.TTL = time.Hour, time.Hour
	results := make(chan []driver.Result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		r, err := d.Renew(ctx, []driver.Claim{busy, free})
		if err != nil {
			t.Errorf("Renew: %v", err)
		}
		results <- r
	}()
	eventually(t, "the other claim is renewed", func() bool {
		queue, err := d.Queue(t.Context(), free.Name)
		return err == nil && len(queue) == 1 && queue[0].Left > before
	})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i, r := range <-results {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("claim %d: %+v", i, r)
		}
	}
	release(t, d, free)
	release(t, d, busy)
}

// A request that waits for its row looks at the clock when it has that: a holder that expired meanwhile is in nobody's
// way.
func testRowLockedWhileAHolderExpires(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	holder := queued(t, s.client(t), mutex(t.Name()))
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", holder.Name))
	next := mutex(t.Name())
	answer := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		st, err := d.Request(ctx, next)
		answer <- orTaken(st, err)
	}()
	eventually(t, "the request waits for the row", func() bool { return number(t, db, s.Rival.Blocked) > 0 })
	const expires = "UPDATE holdfast_claims SET deadline = %d WHERE name = '%s' AND id = '%s'"
	execute(t, tx, fmt.Sprintf(expires, time.Now().UnixMicro(), holder.Name, holder.ID))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Error(err)
	}
	release(t, d, next)
}

// Rows of a few locks that somebody else has locked for long, more of them than a client has connections, keep no
// request for another lock waiting, also for those whose wake locks are where the blocked ones were asked for: they
// take longer than alone for some seconds at most, until it is known which rows are locked.
func testBusyRowsAmongMany(t *testing.T, s Store) {
	const busy, free = 8, 20
	db, d := s.admin(t), s.client(t)
	changeAll(t, db, s.Rival.Prepare)
	var claims []driver.Claim
	for i := range free {
		claims = append(claims, request(t, d, mutex(fmt.Sprint(t.Name(), " free ", i)), true))
	}
	cyclesOf(t, d, claims)
	tx := s.rival(t, db)
	defer tx.Rollback()
	var answers [busy]chan error
	for i := range answers {
		name := fmt.Sprint(t.Name(), " busy ", i)
		release(t, d, request(t, d, mutex(name), true))
		execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", name))
		answers[i] = make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			st, err := d.Request(ctx, mutex(name))
			answers[i] <- orTaken(st, err)
		}()
		eventually(t, "requests wait for rows", func() bool { return number(t, db, s.Rival.Blocked) > 0 })
	}
	pace.Run(t, "beside them", func(t *pace.T) {
		if beside := cyclesOf(t, d, claims); beside > t.Scaled(20*time.Second) {
			t.Errorf("cycles of %d locks took %v beside rows that are locked", free, beside)
		}
	})
	for _, answer := range answers {
		if len(answer) > 0 {
			t.Errorf("a request for a row that is locked is answered: %v", <-answer)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		if err := <-answer; err != nil {
			t.Errorf("a request for a row that was locked: %v", err)
		}
	}
}

// cyclesOf renews and releases claims, and queues others for the same locks in their places, twice, and returns how
// long that took.
func cyclesOf(t testing.TB, d *drivertest.Facade, claims []driver.Claim) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	for range 2 {
		results, err := d.Renew(ctx, claims)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if orTaken(r.Status, r.Err) != nil {
				t.Errorf("a renewal: %+v", r)
			}
			if err := d.Release(ctx, claims[i]); err != nil {
				t.Fatalf("Release: %v", err)
			}
			claims[i] = mutex(claims[i].Name)
			if st, err := d.Request(ctx, claims[i]); orTaken(st, err) != nil {
				t.Fatalf("Request: %+v, %v", st, err)
			}
		}
	}
	return time.Since(began)
}
