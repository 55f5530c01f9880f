package claimstest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// ops returns one operation on each of these claims.
func ops(kind driver.Kind, claims []driver.Claim) (ops []driver.Op) {
	for _, c := range claims {
		ops = append(ops, driver.Op{Kind: kind, Claim: c})
	}
	return ops
}

// Any number of claims that have their locks to themselves is granted in one statement, and released in one. Those that
// share a lock with others are answered as they are alone.
func testTogether(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d, other := Unfollow(s.clientAt(t, p.Addr)), s.client(t)
	const locks = 50
	var claims []driver.Claim
	for i := range locks {
		c := mutex(fmt.Sprint(t.Name(), " ", i))
		c.ID = driver.NewID()
		release(t, d, request(t, d, c, true))
		c.ID = driver.NextID(c.ID)
		claims = append(claims, c)
	}
	d.do(t.Context(), ops(driver.OpRelease, d.granted(t, claims[:2]))...) // so that the statement is prepared
	for i := range claims[:2] {
		claims[i].ID = driver.NextID(claims[i].ID)
	}
	held := queued(t, other, mutex(claims[7].Name))
	change(t, s.admin(t), "UPDATE holdfast_locks SET barred = 0") // that is not what keeps anybody from the lock

	p.Count(statements)
	results := d.do(t.Context(), ops(driver.OpRequest, claims)...)
	few := locks / 5 // opening and preparing another connection are some statements, too
	if got := p.Counted(); got > few {
		t.Errorf("%d statements, want one for all, and one for the claim that has to wait", got)
	}
	for i, r := range results {
		if r.Err != nil || r.Status.Granted == (i == 7) || r.Status.Token == 0 {
			t.Errorf("request %d: %+v", i, r)
		}
		claims[i].Token = r.Status.Token
	}
	for _, c := range claims[:3] {
		if queue, err := other.Queue(t.Context(), c.Name); err != nil || len(queue) != 1 || queue[0].ID != c.ID ||
			queue[0].Owner != c.Owner || !queue[0].Granted || queue[0].Token != c.Token {
			t.Errorf("the queue of %s is %+v, %v", c.Name, queue, err)
		}
	}
	strange := claims[9]
	strange.Token++
	results = d.do(t.Context(), ops(driver.OpRelease, []driver.Claim{strange, claims[8]})...)
	if !errors.Is(results[0].Err, driver.ErrGone) || results[1].Err != nil {
		t.Errorf("released together with a wrong token, and with the right one: %+v", results)
	}
	p.Count(statements)
	for i, r := range d.do(t.Context(), ops(driver.OpRelease, claims[10:])...) {
		if r.Err != nil {
			t.Errorf("release %d: %+v", i, r)
		}
	}
	if got := p.Counted(); got > few {
		t.Errorf("%d statements, want one", got)
	}
	for i, r := range d.do(t.Context(), ops(driver.OpRelease, claims)...) { // again, and the others for the first time
		if r.Err != nil {
			t.Errorf("release %d, which may be the second: %+v", i, r)
		}
	}
	release(t, other, held)
}

// granted requests claims that must be granted, together.
func (u Unfollowed) granted(t *testing.T, claims []driver.Claim) (granted []driver.Claim) {
	t.Helper()
	for i, r := range u.do(t.Context(), ops(driver.OpRequest, claims)...) {
		if r.Err != nil || !r.Status.Granted {
			t.Fatalf("request %d: %+v", i, r)
		}
		c := claims[i]
		c.Token = r.Status.Token
		granted = append(granted, c)
	}
	return granted
}

// Of claims that are requested together, one whose row somebody has locked keeps no other waiting.
func testBusyRowTogether(t *testing.T, s Store) {
	db, d := s.admin(t), Unfollow(s.client(t))
	var claims []driver.Claim
	for i := range 5 {
		c := mutex(fmt.Sprint(t.Name(), " ", i))
		release(t, d, request(t, d, c, true))
		c = mutex(c.Name)
		claims = append(claims, c)
	}
	changeAll(t, db, s.Rival.Prepare)
	change(t, db, "UPDATE holdfast_locks SET barred = 0") // so that IDs of no series need no series
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", claims[2].Name))
	var mu sync.Mutex
	answered := make(map[int]bool)
	others, all := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(all)
		d.driver.Do(t.Context(), ops(driver.OpRequest, claims), func(i int, r driver.Result) {
			mu.Lock()
			defer mu.Unlock()
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("request %d: %+v", i, r)
			}
			if answered[i] = true; len(answered) == len(claims)-1 && !answered[2] {
				close(others)
			}
		})
	}()
	select {
	case <-others:
	case <-time.After(patience):
		t.Fatal("claims wait for the row of another one's lock")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-all
}
