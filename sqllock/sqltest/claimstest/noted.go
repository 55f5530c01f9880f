package claimstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A scene is a lock whose holder has been released, which is only noted in the row of the lock so far: the claims of
// all three are still in the table, and that of the next one does not say that it is granted.
type scene struct {
	d                    *drivertest.Facade
	released, next, last driver.Claim
}

// noted is a release that the server has only noted: whoever asks finds it done, each in a scene of its own.
var noted = []struct {
	name string
	ask  func(ctx context.Context, s scene) error
}{
	{"the queue begins with the next one", func(ctx context.Context, s scene) error {
		entries, err := s.d.Queue(ctx, s.next.Name)
		if err == nil && (len(entries) != 2 ||
			entries[0].ID != s.next.ID || !entries[0].Granted || entries[1].Granted) {
			err = fmt.Errorf("the queue is %+v", entries)
		}
		return err
	}},
	{"its renewal finds it gone", func(ctx context.Context, s scene) error {
		return wantGone(renewed(ctx, s.d, s.released))
	}},
	{"a request for it finds it gone", func(ctx context.Context, s scene) error {
		_, err := s.d.Request(ctx, s.released)
		return wantGone(err)
	}},
	{"a late copy of its first request finds it gone", func(ctx context.Context, s scene) error {
		late := s.released
		late.Token = 0
		_, err := s.d.Request(ctx, late)
		return wantGone(err)
	}},
	{"it can be released again", func(ctx context.Context, s scene) error { return s.d.Release(ctx, s.released) }},
	{"it cannot be broken", func(ctx context.Context, s scene) error {
		return wantGone(s.d.Break(ctx, s.released.Name, s.released.ID))
	}},
	{"it cannot be revoked", func(ctx context.Context, s scene) error {
		return wantGone(s.d.Revoke(ctx, s.released.Name, s.released.ID))
	}},
	{"a renewal finds the next one granted", func(ctx context.Context, s scene) error {
		return renewed(ctx, s.d, s.next)
	}},
	{"a request finds the next one granted", func(ctx context.Context, s scene) error {
		st, err := s.d.Request(ctx, s.next)
		return orTaken(st, err)
	}},
	{"the next one can be revoked", func(ctx context.Context, s scene) error {
		return s.d.Revoke(ctx, s.next.Name, s.next.ID)
	}},
	{"the next one can be released", func(ctx context.Context, s scene) error {
		if err := s.d.Release(ctx, s.next); err != nil {
			return err
		}
		return renewed(ctx, s.d, s.last)
	}},
	{"the next one can be broken", func(ctx context.Context, s scene) error {
		if err := s.d.Break(ctx, s.next.Name, s.next.ID); err != nil {
			return err
		}
		return renewed(ctx, s.d, s.last)
	}},
	{"the last one waits", func(ctx context.Context, s scene) error {
		if st, err := s.d.Request(ctx, s.last); err != nil || st.Granted {
			return fmt.Errorf("%+v, %v", st, err)
		}
		return nil
	}},
	{"who only tries is refused", func(ctx context.Context, s scene) error {
		if st, err := s.d.Request(ctx, tryOnly(mutex(s.next.Name))); err != nil || st.Granted {
			return fmt.Errorf("%+v, %v", st, err)
		}
		return nil
	}},
	{"tokens grow", func(ctx context.Context, s scene) error {
		st, err := s.d.Request(ctx, mutex(s.next.Name))
		if err == nil && st.Token <= s.last.Token {
			err = fmt.Errorf("token %d after %d", st.Token, s.last.Token)
		}
		return err
	}},
}

func wantGone(err error) error {
	if !errors.Is(err, driver.ErrGone) {
		return fmt.Errorf("the answer is %v, want %w", err, driver.ErrGone)
	}
	return nil
}

// renewed renews a claim, which has to be granted.
func renewed(ctx context.Context, d *drivertest.Facade, c driver.Claim) error {
	results, err := d.Renew(ctx, []driver.Claim{c})
	if err != nil {
		return err
	}
	return orTaken(results[0].Status, results[0].Err)
}

// A release that passes the lock on is only noted at first. Nobody can tell the difference.
func testNoted(t *testing.T, s Store) {
	db := s.admin(t)
	for i, one := range noted {
		t.Run(one.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			d, other := s.client(t), s.client(t)
			name := fmt.Sprint("noted ", i)
			sc := scene{d: other, released: request(t, d, mutex(name), true)}
			sc.next, sc.last = request(t, other, mutex(name), false), request(t, other, mutex(name), false)
			release(t, d, sc.released)
			s.wantNoted(t, sc.released)
			if err := one.ask(ctx, sc); err != nil {
				t.Error(err)
			}
			change(t, db, "DELETE FROM holdfast_claims")
		})
	}
}

// wantNoted expects that a claim was released without being taken out of the queue.
func (s Store) wantNoted(t testing.TB, c driver.Claim) {
	t.Helper()
	db := s.admin(t)
	if number(t, db, fmt.Sprintf("SELECT COUNT(*) FROM holdfast_locks WHERE released = %d", c.Token)) != 1 ||
		number(t, db, fmt.Sprintf("SELECT COUNT(*) FROM holdfast_claims WHERE id = '%s'", c.ID)) != 1 {
		t.Errorf("the release of %s was not only noted", c.ID)
	}
}

// Where the one who was queued behind a claim has left, the claim is still in the table after its release: no
// list of locks names it.
func testNotedIsNotListed(t *testing.T, s Store) {
	d := s.client(t)
	held := request(t, d, mutex(t.Name()), true)
	release(t, d, request(t, d, mutex(t.Name()), false))
	release(t, d, held)
	s.wantNoted(t, held)
	for name, err := range driver.List(t.Context(), d, t.Name()) {
		t.Errorf("listed: %q, %v", name, err)
	}
	if entries, err := d.Queue(t.Context(), t.Name()); err != nil || len(entries) > 0 {
		t.Errorf("the queue is %+v, %v", entries, err)
	}
	request(t, d, mutex(t.Name()), true)
}

// A line that nobody joins passes the lock on with nothing but notes, and the last one leaves nothing behind.
func testNotesInARow(t *testing.T, s Store) {
	const waiting = 4
	db := s.admin(t)
	var clients []*drivertest.Facade
	var line []driver.Claim
	for i := range 1 + waiting {
		clients = append(clients, s.client(t))
		line = append(line, request(t, clients[i], mutex(t.Name()), i == 0))
	}
	for i, c := range line[:waiting] {
		release(t, clients[i], c)
		s.wantNoted(t, c)
		await(t, clients[i+1], line[i+1])
	}
	if n := number(t, db, "SELECT COUNT(*) FROM holdfast_claims WHERE name = '"+t.Name()+"'"); n != 1+waiting {
		t.Errorf("%d claims are in the table, want all %d: a look at one changes nothing", n, 1+waiting)
	}
	release(t, clients[waiting], line[waiting])
	if n := number(t, db, "SELECT COUNT(*) FROM holdfast_claims WHERE name = '"+t.Name()+"'"); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	for i, c := range line {
		release(t, clients[i], c) // again
	}
}

// Between a claim that was released and one that waits there is one that has expired. It is out of the way at once, and
// for good: if the server's clock is set back, it must not hold the lock beside the one that was granted it.
func testNotedAheadOfTheDead(t *testing.T, s Store) {
	holder, d, db := s.client(t), s.client(t), s.admin(t)
	held := request(t, holder, mutex(t.Name()), true)
	dead, next := request(t, holder, mutex(t.Name()), false), request(t, d, mutex(t.Name()), false)
	setBack := func(hours int) {
		change(t, db, fmt.Sprintf("UPDATE holdfast_claims SET deadline = deadline + %d WHERE id = '%s'",
			int64(time.Duration(hours)*time.Hour/time.Microsecond), dead.ID))
	}
	setBack(-1)
	granted := make(chan struct{})
	go func() {
		defer close(granted)
		await(t, d, next)
	}()
	eventually(t, "it sleeps in the server", func() bool { return number(t, db, s.Sleeping) == 1 })
	release(t, holder, held)
	<-granted
	setBack(+1)
	if err := wantGone(renewed(t.Context(), holder, dead)); err != nil {
		t.Error(err)
	}
	release(t, d, next)
}

// A release that has to wait for another transaction looks at what that has done.
func testReleaseLooksLate(t *testing.T, s Store) {
	d, db := s.client(t), s.admin(t)
	changeAll(t, db, s.Rival.Prepare)
	held := request(t, d, mutex(t.Name()), true)
	request(t, d, mutex(t.Name()), false)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", t.Name()))
	answer := s.ask(t, db, func(ctx context.Context) error { return wantGone(d.Release(ctx, held)) })
	execute(t, tx, "DELETE FROM holdfast_claims WHERE id = '"+held.ID+"'")
	finish(t, tx, "a release", answer)
}

// A long line that nobody joins leaves no crowd of claims to whoever comes next: some releases are noted, and then
// one carries these out.
func testFewAreNoted(t *testing.T, s Store) {
	const waiting, most = 450, 200
	d, db := Unfollow(s.client(t)), s.admin(t)
	line := []driver.Claim{request(t, d, mutex(t.Name()), true)}
	for range waiting {
		line = append(line, request(t, d, mutex(t.Name()), false))
	}
	noted := fmt.Sprintf("SELECT COUNT(*) FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name"+
		" WHERE c.name = '%s' AND c.token <= l.released", t.Name())
	greatest := int64(0)
	for _, c := range line {
		release(t, d, c)
		greatest = max(greatest, number(t, db, noted))
	}
	if greatest < most/2 || greatest > most {
		t.Errorf("%d releases were noted at a time, want %d at most, and not many fewer", greatest, most)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM holdfast_claims WHERE name = '"+t.Name()+"'"); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	release(t, d, request(t, d, mutex(t.Name()), true))
}
