//go:build unix

package servers

import "syscall"

func (p *process) terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
func (p *process) resume() error    { return p.cmd.Process.Signal(syscall.SIGCONT) }
