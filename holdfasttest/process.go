package holdfasttest

import (
	"time"

	"github.com/holdfast-go/holdfast"
)

// A Process is a client with a network that can fail. Its faults last until Mend; each replaces the one before. Its
// methods are safe for concurrent use.
type Process struct {
	*holdfast.Client
	line *line
}

// Cut has no request arrive: each hangs until its time is over. Leases end by their TTL.
func (p *Process) Cut() { p.line.set(faults{cut: true}) }

// Mute has requests arrive and be applied, and their answers lost: the client does not know what became of them.
func (p *Process) Mute() { p.line.set(faults{mute: true}) }

// Delay has each answer take so long.
func (p *Process) Delay(d time.Duration) { p.line.set(faults{delay: d}) }

// Mend ends all faults.
func (p *Process) Mend() { p.line.set(faults{}) }
