package shedlock

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An operation that is slow holds back no other answer of its batch, and one that never got a connection is unsent.
func TestBatchIsAnsweredOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(&slowServer{held: "'held'"})
		defer db.Close()
		d := unchecked(db, quoting(Postgres), Table)
		defer d.Close()
		const slow = mostConns/2 + 3 // of which three get no connection
		batch := []driver.Op{request("held", heldToken), request("\xff", 0), {Kind: driver.OpValue}}
		for range slow {
			batch = append(batch, request("wanted", 0))
		}
		ctx, cancel := context.WithCancel(t.Context())
		results := make([]*driver.Result, len(batch))
		over := make(chan struct{})
		go func() {
			defer close(over)
			d.Do(ctx, batch, func(i int, r driver.Result) { results[i] = &r })
		}()
		time.Sleep(holdLook) // of the bubble: all have begun
		synctest.Wait()
		switch held, misnamed, unknown := results[0], results[1], results[2]; {
		case held == nil || misnamed == nil || unknown == nil:
			t.Fatalf("the answers so far are %v", results)
		case held.Err != nil || !held.Status.Granted || !errors.Is(misnamed.Err, driver.ErrInvalidName),
			!errors.Is(unknown.Err, errors.ErrUnsupported):
			t.Errorf("the answers are %+v, %+v and %+v", held, misnamed, unknown)
		}
		cancel()
		<-over
		unsent := 0
		for _, r := range results[3:] {
			if errors.Is(r.Err, driver.ErrUnsent) {
				unsent++
			} else if !errors.Is(r.Err, context.Canceled) {
				t.Errorf("one that was sent: %v", r.Err)
			}
		}
		if unsent != 3 {
			t.Errorf("%d operations are unsent, want 3", unsent)
		}
	})
}

func request(name string, token uint64) driver.Op {
	return driver.Op{Kind: driver.OpRequest, Claim: driver.Claim{
		Name: name, ID: "an-id", Weight: 1, Limit: 1, TTL: time.Minute, Queue: true, Token: token,
	}}
}
