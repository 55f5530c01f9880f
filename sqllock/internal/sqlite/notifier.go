package sqlite

import "sync"

// A notifier calls those who listen for a claim of this client when there may be news about it, and for another
// client when that has died. The news themselves are read from the database.
type notifier struct {
	mu    sync.Mutex
	moved map[string]map[*func()]struct{} // by the ID of the claim, or of the client
}

// listen has moved called until stop is called.
func (n *notifier) listen(id string, moved func()) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.moved == nil {
		n.moved = make(map[string]map[*func()]struct{})
	}
	if n.moved[id] == nil {
		n.moved[id] = make(map[*func()]struct{})
	}
	n.moved[id][&moved] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if delete(n.moved[id], &moved); len(n.moved[id]) == 0 {
			delete(n.moved, id)
		}
	}
}

// wake calls those who listen for a claim, or for a client.
func (n *notifier) wake(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for moved := range n.moved[id] {
		(*moved)()
	}
}
