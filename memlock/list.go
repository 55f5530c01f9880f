package memlock

import (
	"context"
	"iter"
	"strings"
	"time"
)

// List implements [driver.Lister]. All names are from the same moment.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range d.store.names(prefix) {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

func (s *store) names(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var names []string
	for name, l := range s.locks {
		if l.advance(now); len(l.queue) > 0 && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}
