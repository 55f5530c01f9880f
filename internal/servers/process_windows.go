package servers

import (
	"errors"
	"os/exec"
)

var errNotHere = errors.New("this system has no signals, and no accounts to choose from")

func (p *process) kill() error          { return p.cmd.Process.Kill() }
func (p *process) terminate() error     { return p.kill() }
func (p *process) pause() error         { return errNotHere }
func (p *process) resume() error        { return errNotHere }
func runAs(_ *exec.Cmd, _ string) error { return nil }
func giveTo(_, _ string) error          { return errNotHere }
