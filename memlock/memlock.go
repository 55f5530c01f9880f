// Package memlock keeps locks in the memory of this process. It is the reference that other drivers are compared with.
// It suits tests, and programs whose locks need not outlive them.
//
// A store is made by [New], or opened by its name with the URL mem:NAME. Stores with a name live as long as the
// process.
package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver is a client of a store. It does operations of every kind, and is a [driver.Lister].
type Driver struct {
	store *store
	tells map[*func(driver.Event)]struct{} // guarded by the store's mutex
}

// New makes a store, and returns a client of it.
func New() *Driver {
	return &Driver{store: newStore()}
}

// Client returns another client of the same store.
func (d *Driver) Client() *Driver {
	return &Driver{store: d.store}
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend: "mem", MinTTL: time.Millisecond,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
		Ops: allOps, Store: d.store.identity(),
	}
}

var allOps = driver.KindsOf(
	driver.OpRequest, driver.OpPropose, driver.OpRelease, driver.OpBreak, driver.OpRevoke,
	driver.OpSetValue, driver.OpValue, driver.OpQueue, driver.OpWatch, driver.OpLife,
)

// Close implements [driver.Driver]. The store stays: claims live until their TTL.
func (d *Driver) Close() error {
	d.store.forgetClient(d)
	return nil
}
