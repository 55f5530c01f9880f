// Package shedlock tests locks in the table of ShedLock beside programs that use ShedLock.
package shedlock
