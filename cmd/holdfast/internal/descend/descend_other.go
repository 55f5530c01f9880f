//go:build unix && !linux

// Package descend kills what descends from a process that adopts orphans, in whatever process group it is.
package descend

import "syscall"

// KillChildren does nothing where the kernel offers no way: only the process group is ended.
func KillChildren(parent, spare int) (found bool) { return false }

// GroupLives reports whether there is a process of a group, which nobody may have waited for.
func GroupLives(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }
