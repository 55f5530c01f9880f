package classic

import (
	"runtime"
	"sync/atomic"
)

// A Counter is what many add to at the same time.
type Counter interface {
	Add()
	Value() int64
}

// PlainCounter is n++: a load, an addition, and a store. It assumes that nobody stores between its load and its store.
// It breaks when somebody does: that one's addition is lost. The atomic operations keep the race detector quiet; they
// do not help.
type PlainCounter struct{ n atomic.Int64 }

// Add adds one, or loses one.
func (c *PlainCounter) Add() {
	n := c.n.Load()
	runtime.Gosched() // others have their turn between two instructions
	c.n.Store(n + 1)
}

// Value returns what is left of the additions.
func (c *PlainCounter) Value() int64 { return c.n.Load() }

// SwapCounter is right: it stores only if nobody has stored since its load, and begins again otherwise. It assumes that
// trying again is cheap. Under contention most of its work is thrown away.
type SwapCounter struct{ n, Retries atomic.Int64 }

// Add adds one.
func (c *SwapCounter) Add() {
	for {
		n := c.n.Load()
		runtime.Gosched()
		if c.n.CompareAndSwap(n, n+1) {
			return
		}
		c.Retries.Add(1)
	}
}

// Value returns the sum.
func (c *SwapCounter) Value() int64 { return c.n.Load() }

// AtomicCounter is right: the addition is one instruction. It works for what one instruction can do.
type AtomicCounter struct{ n atomic.Int64 }

// Add adds one.
func (c *AtomicCounter) Add() { c.n.Add(1) }

// Value returns the sum.
func (c *AtomicCounter) Value() int64 { return c.n.Load() }

// PlainSlice is s = append(s, x) by many: each reads the slice, and writes a longer one. It assumes to be alone, and
// loses what others have appended meanwhile.
type PlainSlice struct{ s atomic.Pointer[[]int] }

// Add appends an element, or loses some.
func (p *PlainSlice) Add() {
	var old []int
	if s := p.s.Load(); s != nil {
		old = *s
	}
	runtime.Gosched()
	longer := append(old[:len(old):len(old)], 1)
	p.s.Store(&longer)
}

// Value returns the length.
func (p *PlainSlice) Value() int64 {
	if s := p.s.Load(); s != nil {
		return int64(len(*s))
	}
	return 0
}
