package adapt

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
