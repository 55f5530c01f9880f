package sqltest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// A client is told of a grant, so that it need not poll: that takes a quarter of a second or more each time.
func TestHandoffWakesTheNext(t *testing.T) {
	pace.Run(t, "hand-offs", handoffWakesTheNext)
}

func handoffWakesTheNext(t *pace.T) {
	t.Margin(50 * time.Millisecond)
	path := newFile(t)
	one, two := open(t, path), open(t, path)
	held := mutex("m")
	request(t, one, held, true)
	var took []time.Duration
	for range 20 {
		began := time.Now()
		next := mutex("m")
		request(t, two, next, false)
		granted := awaiting(two, next)
		if err := one.Release(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		one, two, held = two, one, next
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	if quick := took[len(took)/4]; quick > t.Scaled(250*time.Millisecond) {
		t.Errorf("a quarter of the hand-offs took up to %v, the rest longer", quick)
	}
}

// A wake-up that is lost delays the next in line, no more.
func TestLostWakeUps(t *testing.T) {
	path := newFile(t)
	a, b := open(t, path), open(t, path)
	holder, next := mutex("m"), mutex("m")
	request(t, a, holder, true)
	request(t, b, next, false)
	fifos, err := filepath.Glob(path + ".clients/*.fifo")
	if err != nil || len(fifos) != 2 {
		t.Fatal(fifos, err)
	}
	for _, fifo := range fifos {
		os.Remove(fifo)
	}
	if err := a.Release(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	if took := awaitGrant(t, b, next); took > atOnce {
		t.Errorf("granted after %v", took)
	}
}

// Who has taken up a claim of another process, and listens, is told at once when somebody asks for it, or ends it.
func TestToldOfWhatWasTakenUp(t *testing.T) {
	path := newFile(t)
	first, d, other := open(t, path), open(t, path), open(t, path)
	for what, do := range map[string]func(*drivertest.Facade, context.Context, string, string) error{
		"revoked": (*drivertest.Facade).Revoke, "broken": (*drivertest.Facade).Break,
	} {
		c := mutex(what)
		c.Detached = true
		c = claimed.Acquire(t, first, c)
		request(t, d, c, true)
		moved := make(chan struct{}, 16)
		stop, err := d.Listen(t.Context(), c, func() { moved <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		if err := do(other, t.Context(), c.Name, c.ID); err != nil {
			t.Fatal(err)
		}
		select {
		case <-moved:
		case <-time.After(atOnce):
			t.Errorf("a claim was %s, and who has taken it up was not told", what)
		}
		stop()
	}
}
