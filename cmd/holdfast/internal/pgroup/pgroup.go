//go:build unix

// Package pgroup signals a process group that may be gone. Its number may be another group's by then, so where the
// kernel can (Linux 6.9 and later) the group is held by a descriptor of its leader. Elsewhere the number has to do.
package pgroup

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/descend"
)

// A Group is a process group. Its methods are safe for concurrent use.
type Group struct {
	id int

	mu     sync.Mutex
	leader int // a descriptor of it, less than zero for none
	closed bool
}

// Of returns the group of a leader that has not been waited for, so that its number is its own.
func Of(leader int) *Group { return Held(leader, open(leader)) }

// Held returns the group of a leader of which there is a descriptor. Less than zero stands for none.
func Held(id, leader int) *Group { return &Group{id: id, leader: leader} }

// ID is the number of the group.
func (g *Group) ID() int { return g.id }

// Signal sends a signal to all of the group. It returns ESRCH when the group is gone, or was closed.
func (g *Group) Signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return unix.ESRCH
	}
	if err, ok := signal(g.leader, sig); ok {
		return err
	}
	return unix.Kill(-g.id, sig)
}

// Lives reports whether a process of the group runs. Those that nobody has waited for do not: there may be nobody who
// does. What we may not signal does.
func (g *Group) Lives() bool {
	return g.Signal(0) != unix.ESRCH && descend.GroupLives(g.id) // it is there, so the number is still its own
}

// Close ends the group as far as we are concerned: from now on its number may be another's.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.leader >= 0 {
		_ = unix.Close(g.leader) // nothing was written
	}
	g.closed = true
}
