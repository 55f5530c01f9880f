package fence

import "sync"

// A Register remembers the greatest token of each resource in this process's memory, and does writes in the order of
// their tokens. It is for resources that only this process writes, and forgets with it. The zero value is ready.
type Register struct {
	mu   sync.Mutex
	seen map[string]*mark
}

// A mark is what is known of one resource. Who has its mutex may write.
type mark struct {
	sync.Mutex
	token uint64
}

// Do calls write unless a greater token was seen, in which case its error matches [ErrStale]. While write runs nobody else
// writes to the resource. A token counts as seen even if write fails.
func (r *Register) Do(resource string, token uint64, write func() error) error {
	if err := Check(token); err != nil {
		return err
	}
	m := r.mark(resource)
	m.Lock()
	defer m.Unlock()
	if token < m.token {
		return Stale(resource, token, m.token)
	}
	m.token = token
	return write()
}

// Seen returns the greatest token of a resource, or 0.
func (r *Register) Seen(resource string) uint64 {
	m := r.mark(resource)
	m.Lock()
	defer m.Unlock()
	return m.token
}

func (r *Register) mark(resource string) *mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = make(map[string]*mark)
	}
	m := r.seen[resource]
	if m == nil {
		m = new(mark)
		r.seen[resource] = m
	}
	return m
}
