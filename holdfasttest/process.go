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

// Cut lets no request arrive: each hangs until its time is over. Leases end with their TTL.
func (p *Process) Cut() { p.line.set(faults{cut: true}) }

// Mute lets requests arrive and be applied, but loses their answers: the client does not know their outcome.
func (p *Process) Mute() { p.line.set(faults{mute: true}) }

// Delay makes each answer take d.
func (p *Process) Delay(d time.Duration) { p.line.set(faults{delay: d}) }

// Mend ends all faults.
func (p *Process) Mend() { p.line.set(faults{}) }
