package driver

// An Event tells what has happened to a claim, or to the queue of a lock.
type Event struct {
	// Name and ID are those of the claim. Without an ID, the event is about the queue of the lock: see [OpWatch].
	// Without both, anything may have happened to any claim and any queue, as while a connection was lost.
	Name, ID string

	Status Status // the claim's new state, as a request would have answered; the zero Status means "ask"
	Err    error  // ErrGone says that the claim has ended
}
