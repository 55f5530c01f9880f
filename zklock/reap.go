package zklock

import (
	"context"
	"errors"
	"path"
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
	kinds := []reaping{
		{d.keys.root + valuesNode, "removed value", driver.DecodeName, d.reapValue},
		{d.keys.root + deedsNode, "old notes", driver.DecodeName, d.reapNotesIn},
	}
	if d.keys.layout == Native {
		kinds = append(kinds, reaping{d.keys.top(), "empty queue", d.keys.name, d.reapQueue})
	}
	var errs []error
	for _, r := range kinds {
		of, err := r.below(ctx, s, age)
		removed, errs = append(removed, of...), append(errs, err)
	}
	return removed, errors.Join(errs...)
}

// A reaping removes what is left below one node.
type reaping struct {
	top    string
	kind   string
	name   func(node string) (lock string, ok bool)
	remove func(ctx context.Context, s *session, at string, age time.Duration) (bool, error)
}

func (r reaping) below(ctx context.Context, s *session, age time.Duration) (removed []driver.Leftover, err error) {
	nodes, err := s.children(ctx, r.top)
	if err != nil {
		return nil, err
	}
	gone, errs := make([]bool, len(nodes)), make([]error, len(nodes))
	forEach(len(nodes), func(i int) {
		if _, ok := r.name(nodes[i]); ok {
			gone[i], errs[i] = r.remove(ctx, s, path.Join(r.top, nodes[i]), age)
		}
	})
	for i, node := range nodes {
		if gone[i] {
			name, _ := r.name(node)
			removed = append(removed, driver.Leftover{Kind: r.kind, Name: name})
		}
	}
	return removed, distinct(errs)
}

// reapQueue deletes a node without children that is older than this by its server's clock. Our queues say nothing, and
// outlive who made them: a node that does not is somebody else's. Peers' clients write something into theirs.
func (d *Driver) reapQueue(ctx context.Context, s *session, at string, age time.Duration) (bool, error) {
	node, err := s.getIfThere(ctx, at)
	if err != nil || node.stat == nil || node.stat.NumChildren > 0 {
		return false, err
	}
	young := time.Since(time.UnixMilli(node.stat.Ctime)) < age
	if node.stat.EphemeralOwner != 0 || len(node.data) > 0 || young {
		return false, nil
	}
	return s.deleteAsItWas(ctx, at, node.stat.Version)
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
