package batch

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/holdfast-go/holdfast/driver"
)

// A Panic is what a caller panics with when the driver has panicked in a goroutine of the [Sender]. A driver
// that is called on the goroutine of the caller panics there, with its own value.
type Panic struct {
	Value any    // that the driver panicked with
	Stack []byte // where it did
}

func (p *Panic) Error() string { return fmt.Sprintf("the driver panicked: %v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value, if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// caught is the panic with a value; nil if there was none.
func caught(value any) *Panic {
	if value == nil {
		return nil
	}
	return &Panic{value, debug.Stack()}
}

// errExited is the error for an operation during which the driver ended its goroutine.
var errExited = errors.New("the driver ended the goroutine that it was called on")

// blame gives the panic of an attempt to the first caller of Do that waits for it. It returns the error for the
// other calls. Where there is no such caller, the first call of Go has the panic as its error.
func (s *Sender) blame(a *attempt, p *Panic) error {
	var first *call
	for _, c := range a.calls {
		if c == nil || c.state == done {
			continue
		}
		if c.group == nil {
			c.panic = p
			return fmt.Errorf("the driver panicked: %v", p.Value)
		}
		if first == nil {
			first = c
		}
	}
	if first == nil {
		s.astray = p
	} else {
		s.end(first, Answer{Result: driver.Result{Err: p}, Sent: a.began})
	}
	return fmt.Errorf("the driver panicked: %v", p.Value)
}
