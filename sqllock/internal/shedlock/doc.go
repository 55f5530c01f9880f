// Package shedlock keeps locks in the table of ShedLock, a library for Java, so that programs with ShedLock and with
// Holdfast exclude each other. A row of that table is a mutex: whoever sets lock_until while it is in the past has the
// lock until then. It knows one holder and no queue, so there is no order, and who waits asks now and then.
//
// What the contract of package driver asks for besides has a row for each claim in a table of ours, holdfast_guests. A
// claim is in one of these states:
//
//	asks      it was requested, and would not wait
//	waits     it was requested, and waits
//	granted   its client may know that it had the lock
//	alone     the same, and it was detached
//	released  it was given back, or gave up
//	ended     it was lost or broken, or never was
//
// Beside them a name has one row without an ID, in the state last. It keeps the last token until the clock has
// overtaken it. Whoever takes or holds the lock has that row locked.
//
// Each statement commits by itself, so that no client that is paused keeps rows locked which programs with ShedLock
// wait for. A statement that touches several rows locks the claim's first, and ShedLock's last: so a release by ID
// alone, which bars the ID and then frees the lock, leaves nothing that a request still under way could take.
//
// The token of a grant is locked_at, in milliseconds. It grows with each of our grants because a grant sets it to more
// than it was and more than the last token; programs with ShedLock set it to their time, which may be earlier.
package shedlock
