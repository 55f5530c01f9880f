//go:build unix && !linux

package servers

import "syscall"

func (p *process) kill() error   { return p.cmd.Process.Kill() }
func (p *process) pause() error  { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
