// Package holdfasttest helps to test programs that use Holdfast: a backend in memory whose faults the test decides, and
// Sweep, which loses the lock at each step of a section.
//
//	store := holdfasttest.NewStore()
//	p := store.Process(t) // a client, as one process has it
//	...
//	p.Cut()               // its network is gone
//
// Nothing here needs a server. In a bubble of testing/synctest a TTL takes no time.
package holdfasttest
