package memlock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// Who begins to listen when the claim has ended already is told at once, as there will be no later news of it.
func TestListenToWhatHasEnded(t *testing.T) {
	d := memlock.New()
	claim := mutex("a")
	claim.Token = request(t, d, claim, true).Token
	release(t, d, claim)
	told := 0
	stop, err := d.Listen(t.Context(), claim, func() { told++ })
	if err != nil || told != 1 {
		t.Fatalf("told %d times, %v; want once", told, err)
	}
	stop()
	request(t, d, mutex("b"), true) // the end of listening holds nobody up
}

// The reference can do whatever a driver may say that it can, so the suite leaves nothing of it out.
func TestTraitsOfTheReference(t *testing.T) {
	want := driver.Traits{
		Backend: "mem", MinTTL: time.Millisecond, Fenced: true, FIFO: true, ServerClock: true, Weighted: true,
		Listed: true, Detach: true,
	}
	d := memlock.New()
	for kind := driver.OpRequest; kind <= driver.OpLife; kind++ {
		want.Ops |= driver.KindsOf(kind)
	}
	want.Store = d.Identity()
	if got := d.Traits(); got != want {
		t.Errorf("it says %+v, want %+v", got, want)
	}
}
