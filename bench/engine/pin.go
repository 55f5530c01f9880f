package engine

import (
	"errors"
	"fmt"
	"runtime"
)

// A Pin says which cores the client and the server may use. The zero value lets the system choose.
type Pin struct {
	Name  string // for people; empty for the zero value
	apart bool
}

// Suffix tells names of what was measured so from others.
func (p Pin) Suffix() string {
	switch {
	case p == (Pin{}):
		return ""
	case p.apart:
		return "-apart"
	}
	return "-together"
}

// PinNamed returns the pin with the name that a user gives: apart, together, or nothing for none.
func PinNamed(name string) (Pin, error) {
	switch name {
	case "":
		return Pin{}, nil
	case "apart":
		return Pin{Name: "client and server on a core each", apart: true}, nil
	case "together":
		return Pin{Name: "client and server on one core"}, nil
	}
	return Pin{}, fmt.Errorf("no way to pin is called %q: apart, together", name)
}

// Start starts a server on its core, from which a process that is started inherits it, and goes on with this process
// on that of the client.
func (p Pin) Start(start func() *Engine) (*Engine, error) {
	if p == (Pin{}) {
		return start(), nil
	}
	server, client, err := p.cores()
	if err != nil {
		return nil, err
	}
	if err := stayOn(server); err != nil {
		return nil, err
	}
	e := start()
	runtime.GOMAXPROCS(1)
	return e, stayOn(client)
}

func (p Pin) cores() (server, client int, err error) {
	usable, err := usableCores()
	if err != nil {
		return 0, 0, err
	}
	if !p.apart {
		return usable[0], usable[0], nil
	}
	if len(usable) < 2 {
		return 0, 0, errors.New("there is only one core")
	}
	return usable[1], usable[0], nil
}
