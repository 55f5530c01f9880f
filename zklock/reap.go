package zklock

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap removes the nodes of queues that are empty, as [driver.Reaper] says. ZooKeeper does so by itself, but only some
// thousand in a minute, never those that had no child yet, and none before 3.5.3. In layouts of other libraries no
// queue is removed, because nobody can know to whom a node without children belongs. Reap also removes the mark of a
// removed value, if the process that had to delete it has ended before, and notes that are an hour old.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	s, err := d.asking(ctx)
	if err != nil {
		return nil, err
	}
	defer s.engage()()
	removed, err = d.reapValues(ctx, s, age)
	notes, errNotes := d.reapNotes(ctx, s, age)
	removed, err = append(removed, notes...), errors.Join(err, errNotes)
	if d.keys.layout == Native {
		queues, errQueues := d.reapQueues(ctx, s, age)
		removed, err = append(removed, queues...), errors.Join(err, errQueues)
	}
	return removed, err
}

func (d *Driver) reapQueues(ctx context.Context, s *session, age time.Duration) (removed []driver.Leftover, err error) {
	nodes, err := s.children(ctx, d.keys.top())
	if err != nil {
		return nil, err
	}
	gone, errs := make([]bool, len(nodes)), make([]error, len(nodes))
	forEach(len(nodes), func(i int) {
		if _, ok := d.keys.name(nodes[i]); ok {
			gone[i], errs[i] = s.reap(ctx, d.keys.root+"/"+nodes[i], age)
		}
	})
	for i, node := range nodes {
		if gone[i] {
			name, _ := d.keys.name(node)
			removed = append(removed, driver.Leftover{Kind: "empty queue", Name: name})
		}
	}
	return removed, distinct(errs)
}

// reap deletes a node without children that is older than this by its server's clock. Our queues say nothing, and
// outlive who made them: a node that does not is somebody else's. Peers' clients write something into theirs.
func (s *session) reap(ctx context.Context, path string, age time.Duration) (bool, error) {
	node, err := s.getIfThere(ctx, path)
	if err != nil || node.stat == nil || node.stat.NumChildren > 0 {
		return false, err
	}
	if node.stat.EphemeralOwner != 0 || len(node.data) > 0 && s.d.keys.layout == Native {
		return false, nil
	}
	if time.Since(time.UnixMilli(node.stat.Ctime)) < age {
		return false, err
	}
	return s.deleteAsItWas(ctx, path, node.stat.Version)
}

// deleteAsItWas deletes a node that nobody has changed or given children since it had this version, and reports
// whether it did.
func (s *session) deleteAsItWas(ctx context.Context, path string, version int32) (bool, error) {
	_, err := call(ctx, s, func(c *zk.Conn) (struct{}, error) { return struct{}{}, c.Delete(path, version) })
	switch {
	case err == nil:
		return true, nil
	case isNoNode(err), errors.Is(err, zk.ErrNotEmpty), errors.Is(err, zk.ErrBadVersion):
		return false, nil
	default:
		return false, err
	}
}
