package zklock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// changed blocks until the queue may have changed since begun, as [driver.Followers] says.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	s, err := d.asking(ctx)
	if err != nil {
		return err
	}
	w, err := s.watchQueue(ctx, d.keys.queue(name))
	if err != nil {
		return err
	}
	begun()
	select {
	case <-w.fired:
		return nil
	case <-s.lost:
		return nil
	case <-d.lifetime.Done():
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watchQueue watches the children of a queue, or the creation of the queue where there is none.
func (s *session) watchQueue(ctx context.Context, queue string) (w *watch, err error) {
	for {
		if w, err = s.watch(ctx, spot{queue, itsChildren}); !isNoNode(err) {
			return w, err
		}
		if w, err = s.watch(ctx, spot{queue, itsCreation}); !errors.Is(err, zk.ErrNodeExists) {
			return w, err
		}
	}
}
