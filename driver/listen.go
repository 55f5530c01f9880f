package driver

import "context"

// A Listener reports that something may have happened to a granted claim. Unlike Wait, it needs no goroutine for each
// claim.
type Listener interface {
	// Listen calls moved whenever a granted claim may have been revoked, broken or lost, until stop is called. That
	// includes what happened since the last answer about the claim. The client then asks about the claim, so a call too
	// many costs a request, and a missing one costs time. moved is quick, does not block, and does not call the driver.
	// It may be called from any goroutine, under any of the driver's locks, and once more after stop.
	//
	// ctx bounds the call of Listen, not the listening. After an error moved is never called.
	Listen(ctx context.Context, c Claim, moved func()) (stop func(), err error)
}

// Listeners are the functions that a driver calls when something may have happened to a claim. The zero value has none.
// They are guarded by the lock that guards the claim.
type Listeners struct{ moved map[*func()]struct{} }

// Add adds a function, until remove is called under the same lock.
func (ls *Listeners) Add(moved func()) (remove func()) {
	if ls.moved == nil {
		ls.moved = make(map[*func()]struct{})
	}
	ls.moved[&moved] = struct{}{}
	return func() { delete(ls.moved, &moved) }
}

// None reports whether there is none.
func (ls *Listeners) None() bool { return len(ls.moved) == 0 }

// Call calls all of them.
func (ls *Listeners) Call() {
	for moved := range ls.moved {
		(*moved)()
	}
}
