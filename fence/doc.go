// Package fence is the resource's side of a lock: it refuses the writes of a holder that has lost the lock and does not
// know it yet.
//
// Between looking at its lease and acting on it a process may be paused for longer than the lease lives. No lock can
// prevent that. The resource can, if it remembers the greatest fencing token that it has seen and refuses writes with a
// smaller one. Every lease has such a token ([holdfast.Lease.Token]): it is greater than those of all earlier holders.
// The check must be one step with the write, so there is one for each kind of resource:
//
//   - [SQL] in a transaction of the caller's: MySQL, MariaDB, PostgreSQL, SQLite.
//   - [Register] in this process's memory.
//   - [Handler] in a service that speaks HTTP, behind what authenticates, with [Accept] before writes that may fail
//     half way, and [Transport] in its clients.
//   - Packages redisfence and etcdfence beside this one, with modules of their own.
//
// They all answer with an error that matches [ErrStale]. They know resources and numbers, but no locks: the tokens may
// come from any engine, as long as those of one resource come from one lock.
//
// Outside of Go a token is a decimal string ([Format], [Parse]), because it exceeds the 2^53 up to which the numbers of
// JSON and Lua are exact.
//
// [holdfast.Lease.Token]: https://pkg.go.dev/github.com/holdfast-go/holdfast#Lease.Token
package fence
