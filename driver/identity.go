package driver

// An Identifier can tell its store from other stores.
type Identifier interface {
	// Identity names the store. All its clients, in whatever process, get the same name, and no client of another store
	// does. The name does not change while the driver is open, and people may read it. Clients of several stores use it
	// to lock in one order.
	Identity() string
}

// Identity names the store as [Identifier] says, or returns "" if d is no Identifier.
func Identity(d Either) string {
	if i, ok := As[Identifier](d); ok {
		return i.Identity()
	}
	return ""
}
