package driver

// An Identifier can tell its store from others.
type Identifier interface {
	// Identity names the store: in the same way for each of its clients, in whatever process, and never as another
	// store is named. It does not change while the driver is open, and people may read it. Clients of several stores
	// use it to lock in one order.
	Identity() string
}

// Identity names the store as [Identifier] says, or returns "" where the driver cannot.
func Identity(d Driver) string {
	if i, ok := As[Identifier](d); ok {
		return i.Identity()
	}
	return ""
}
