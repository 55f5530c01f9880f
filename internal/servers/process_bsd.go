//go:build unix && !linux

package servers

import "syscall"

func (p *process) pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
