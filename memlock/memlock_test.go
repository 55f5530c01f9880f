package memlock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
		store := memlock.New()
		return func(testing.TB) driver.Driver { return store.Client() }
	}})
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
	got := d.Traits()
	want.Store = got.Store
	if got != want || !strings.HasPrefix(got.Store, "mem:") {
		t.Errorf("it says %+v, want %+v", got, want)
	}
}
