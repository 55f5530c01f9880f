package driver

import "time"

// A Life is one run of an engine, for quorums: an engine that keeps nothing, and was started a moment ago, may have
// forgotten whom it let in. No two engines ever have the same life: drivers that get the same life reach the same
// engine, under whatever address.
type Life struct {
	ID  string        // a new one after each start, in the characters of a claim's ID
	Age time.Duration // for how long it has lasted at least, by the engine's clock
}
