//go:build unix && !linux

// Package descend kills what descends from a process that adopts orphans, in whatever process group it is.
package descend

import "syscall"

// Kill does nothing where the kernel offers no way: only the process group is ended.
func (f Family) Kill() (found bool) { return false }

// Lives is false for the same reason.
func (f Family) Lives() bool { return false }

// GroupLives reports whether there is a process of a group, which nobody may have waited for.
func GroupLives(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }
