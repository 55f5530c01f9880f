package nemesis

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// An ensemble is servers that agree with each other, on a network and on disks of their own.
type ensemble struct {
	all    []*servers.Server
	net    *servers.Network
	leader func(t testing.TB, all []*servers.Server) int
}

// faults are what may befall one of the servers. The others are enough.
func (e ensemble) faults() []Fault {
	return []Fault{
		kill(Kill, Nothing, e.follows), kill(KillLeader, Nothing, e.leads),
		pause(Pause, Nothing, e.follows), pause(PauseLeader, Nothing, e.leads),
		e.cut(Cut, 1, true, true), e.cut(CutLeader, 0, true, true),
		e.cut(Deaf, 0, false, true), e.cut(Mute, 0, true, false),
		{Name: SlowDisk, Begin: func(t testing.TB) func() {
			e.leads(t).StallDisk(t, 10*time.Second)
			return func() {}
		}},
		{Name: FullDisk, Begin: func(t testing.TB) func() { return e.leads(t).FillDisk(t) }},
	}
}

func (e ensemble) leads(t testing.TB) *servers.Server { return e.all[e.leader(t, e.all)] }

func (e ensemble) follows(t testing.TB) *servers.Server {
	return e.all[(e.leader(t, e.all)+1)%len(e.all)]
}

// cut loses what goes from a server to the others, what comes from them, or both: of the server that is so many places
// after the leader.
func (e ensemble) cut(name string, after int, from, to bool) Fault {
	return Fault{Name: name, Begin: func(t testing.TB) func() {
		i := (e.leader(t, e.all) + after) % len(e.all)
		for other := range e.all {
			if other != i && from {
				e.net.Cut(t, i, other)
			}
			if other != i && to {
				e.net.Cut(t, other, i)
			}
		}
		return func() { e.net.Heal(t) }
	}}
}
