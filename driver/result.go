package driver

// A Result is the answer to one operation of a batch.
type Result struct {
	// Err is nil, or says why there is no answer, or that the answer is no; see [IsAnswer]. An error that matches
	// [ErrUnsent] says that nothing was done and nothing will be. After any other the outcome is unknown.
	Err error

	Status Status
	Life   Life
	Value  Value
	Queue  []Entry

	// Again says that a part was done, because the engine bounds what it does at a time, and that the same
	// operation is to be sent again at once. Err is nil then.
	Again bool
}
