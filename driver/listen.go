package driver

import "context"

// A Listener tells that something may have happened to a granted claim, without a goroutine for each, as Wait needs.
type Listener interface {
	// Listen has moved called whenever a granted claim may have been revoked, broken or lost, until stop is called;
	// also for what happened since the last answer about the claim. The claim is then asked about, so a call too many
	// costs a request, and one too few costs time. moved is quick, does not block, and calls nothing of the driver's;
	// it may be called from any goroutine, under any of the driver's locks, and once more after stop.
	//
	// ctx bounds what Listen itself needs, not the listening. After an error nobody listens.
	Listen(ctx context.Context, c Claim, moved func()) (stop func(), err error)
}

// Listeners are what a driver calls when something may have happened to a claim. The zero value has none. Whatever lock
// guards the claim guards them.
type Listeners struct{ moved map[*func()]struct{} }

// Add adds one, until remove is called under the same lock.
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
