package driver

import (
	"context"
	"time"
)

// A Watcher watches a queue without having a claim in it: for elections, barriers and dashboards.
type Watcher interface {
	// Watch blocks until the queue may have changed since the call, or ctx ends. Returning early is allowed.
	Watch(ctx context.Context, name string) error
}

// watchPause is how long Watch pauses where d cannot push.
const watchPause = time.Second

// Watch blocks until the queue may have changed, as [Watcher] says. If d is no Watcher, it returns after a pause.
func Watch(ctx context.Context, d Either, name string) error {
	if w, ok := As[Watcher](d); ok {
		return w.Watch(ctx, name)
	}
	return Sleep(ctx, watchPause)
}
