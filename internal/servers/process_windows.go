package servers

import "errors"

var errNoSignals = errors.New("this system has no signals")

func (p *process) terminate() error { return p.kill() }
func (p *process) pause() error     { return errNoSignals }
func (p *process) resume() error    { return errNoSignals }
