package redislock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A client that watches many locks, one after the other, remembers none of them.
func TestWatchesAreForgotten(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := d.Watch(ctx, fmt.Sprint("lock ", i)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Watch: %v", err)
		}
		cancel()
	}
	d.notifier.mu.Lock()
	defer d.notifier.mu.Unlock()
	if n := len(d.notifier.watches); n > 0 {
		t.Errorf("%d of the locks that were watched are remembered", n)
	}
}

// Of several who watch one lock, one may leave, and the others are woken.
func TestWatchOutlivesWhoLeaves(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(*testing.T) {
		in := newInbox()
		first, leaveFirst := in.watching("jobs")
		second, leaveSecond := in.watching("jobs")
		leaveFirst()
		in.deliver("w jobs")
		<-first // or all are asleep for ever
		<-second
		third, leaveThird := in.watching("jobs")
		leaveSecond() // the one before
		in.deliver("w jobs")
		<-third
		leaveThird()
	})
}
