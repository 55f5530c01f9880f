//go:build unix

package servers

import "syscall"

func (p *process) terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
func (p *process) pause() error     { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() error    { return p.cmd.Process.Signal(syscall.SIGCONT) }
