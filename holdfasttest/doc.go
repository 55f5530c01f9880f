// Package holdfasttest helps to test programs that use Holdfast: a backend in memory whose faults the test decides, and
// Sweep, which loses the lock at each step of a section.
//
//	store := holdfasttest.NewStore()
//	p := store.Process(t) // a client, as one process has it
//	...
//	p.Cut()               // its network is gone
//
// Nothing here needs a server. Time passes as it does in the test: in a bubble of testing/synctest a TTL costs nothing.
package holdfasttest
