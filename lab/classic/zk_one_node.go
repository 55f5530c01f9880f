package classic

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// OneNode takes the lock by creating an ephemeral node, and watches it while somebody else has it. It assumes that few
// wait. It breaks with many: each release wakes all of them, all try, and all but one watch again. Nobody has a place.
type OneNode struct {
	Conn *zk.Conn
	Path string

	Watching func() // is called whenever it watches, if it is there
}

// Lock waits until the lock is ours.
func (l OneNode) Lock(ctx context.Context) error {
	for {
		_, err := l.Conn.Create(l.Path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		exists, _, events, err := l.Conn.ExistsW(l.Path)
		if err != nil {
			return err
		}
		if l.Watching != nil {
			l.Watching()
		}
		if !exists { // it was given back meanwhile
			continue
		}
		select {
		case <-events:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Unlock gives it back.
func (l OneNode) Unlock() error { return l.Conn.Delete(l.Path, -1) }
