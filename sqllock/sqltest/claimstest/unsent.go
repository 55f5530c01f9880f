package claimstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// A request that another one of its client keeps from being sent until its caller gives up is not one of which nobody
// knows what became: it never arrives.
func testUnsent(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	release(t, d, request(t, d, mutex(t.Name()), true))
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", t.Name()))
	first := mutex(t.Name())
	answer := s.ask(t, db, func(ctx context.Context) error {
		st, err := d.Request(ctx, first)
		return orTaken(st, err)
	})

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Request(ctx, mutex(t.Name())); !errors.Is(err, driver.ErrUnsent) || !errors.Is(err, ctx.Err()) {
		t.Errorf("Request: %v, want ErrUnsent and the context's error", err)
	}
	_, err := holdfast.New(d).Mutex(t.Name()).TryLock(ctx)
	if !errors.Is(err, holdfast.ErrNotAcquired) || errors.Is(err, holdfast.ErrUnknown) {
		t.Errorf("TryLock: %v, want ErrNotAcquired", err)
	}
	finish(t, tx, "the request", answer)
	if queue, err := d.Queue(t.Context(), t.Name()); err != nil || len(queue) != 1 || queue[0].ID != first.ID {
		t.Errorf("the queue is %+v, %v; want what was sent", queue, err)
	}
	release(t, d, first)
}
