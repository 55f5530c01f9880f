package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// The chroot and the nodes above it are not ours alone.

// isShared reports whether a node is the chroot, or above it.
func (k keyspace) isShared(node string) bool { return strings.HasPrefix(k.chroot+"/", node+"/") }

// makeShared makes a node of the chroot, to stay and for everybody. Where our nodes are not for everybody that
// would be too open, and otherwise others could not use it; so somebody must have made it.
func (s *session) makeShared(ctx context.Context, node string) error {
	if !isOpen(s.d.acl) {
		return s.mustExist(ctx, node)
	}
	_, err := call(ctx, s, func(c *zk.Conn) (string, error) { return c.Create(node, nil, zk.FlagPersistent, s.d.acl) })
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case !isNoNode(err):
		return err
	}
	if err := s.makeParent(ctx, path.Dir(node)); err != nil {
		return err
	}
	return s.makeShared(ctx, node)
}

func (s *session) mustExist(ctx context.Context, node string) error {
	there, err := s.exists(ctx, node)
	if err == nil && !there {
		err = fmt.Errorf("%w: the chroot %q does not exist, and nodes that this client creates are not open to "+
			"everybody; create it, with an ACL for all who use it", driver.ErrRefused, node)
	}
	return err
}

func isOpen(acl []zk.ACL) bool { return slices.Equal(acl, zk.WorldACL(zk.PermAll)) }

// checkChroot reports a chroot that this client will not make.
func (s *session) checkChroot(ctx context.Context) error {
	if s.d.keys.chroot == "" || isOpen(s.d.acl) {
		return nil
	}
	return s.mustExist(ctx, s.d.keys.chroot)
}
