package leased

import "sync"

// A Group is the goroutines of a driver. All of them end when the driver's lifetime does. The zero value is ready
// for use.
type Group struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// Go calls f in a goroutine of its own, which Wait waits for. Once somebody waits, f is not waited for any more,
// because a sync.WaitGroup must not grow from zero meanwhile; f then finds the driver's lifetime over, and ends
// soon.
func (g *Group) Go(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		go f()
		return
	}
	g.wg.Go(f)
}

// Wait waits until all goroutines have ended. The caller has ended the driver's lifetime before.
func (g *Group) Wait() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.wg.Wait()
}
