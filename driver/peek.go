package driver

import "context"

// A Peeker reads the head of a queue without the rest, which may be long.
type Peeker interface {
	// Peek returns the first n live claims on a lock as Queue does, or all of them if there are fewer.
	Peek(ctx context.Context, name string, n int) ([]Entry, error)
}

// Peek returns the first claims as [Peeker] says. If d is no Peeker, it reads the whole queue.
func Peek(ctx context.Context, d Driver, name string, n int) ([]Entry, error) {
	if p, ok := As[Peeker](d); ok {
		return p.Peek(ctx, name, n)
	}
	queue, err := d.Queue(ctx, name)
	return queue[:min(n, len(queue))], err
}
