package zklock

import "sync"

// A group is the goroutines of a driver. All of them end when its lifetime does.
type group struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// run calls f in a goroutine of its own, which Close waits for.
func (d *Driver) run(f func()) {
	d.running.mu.Lock()
	defer d.running.mu.Unlock()
	if d.running.closed {
		go f() // it finds the lifetime over
		return
	}
	d.running.wg.Go(f)
}

func (g *group) wait() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.wg.Wait()
}
