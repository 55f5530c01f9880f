//go:build unix && !linux

package child

import (
	"os"
	"syscall"
)

// sysProcAttr makes the child a group leader.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adoptOrphans does nothing where the kernel offers no way: only the process group is ended.
func adoptOrphans() {}

// mayHaveOthers does not matter, because nobody is looked for.
func mayHaveOthers() bool { return false }

// awaitChild returns at once: what follows waits.
func awaitChild() {}

// hasEnded is never known.
func hasEnded(int) bool { return false }

// stopSelf stops this process until somebody continues it.
func stopSelf(syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail for oneself
}

// heed cannot be done here.
func heed(syscall.Signal) bool { return false }

// isIgnored is not known here.
func isIgnored(syscall.Signal) bool { return false }
