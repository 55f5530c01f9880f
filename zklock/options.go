package zklock

import (
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// DefaultPrefix is the node below which everything is kept unless the options say otherwise.
const DefaultPrefix = "/holdfast"

// Options are settings of a driver. The zero value is right for most programs.
type Options struct {
	// Chroot is the node that stands for the root, as in ZooKeeper's connection strings. Empty: the root itself. A
	// chroot that does not exist is created, as a persistent node that is open to everybody. If the ACL is not open to
	// everybody, a missing chroot is an error instead, because others could not use the nodes in it.
	Chroot string

	// Prefix is the node, below the chroot, under which everything is kept. Empty: [DefaultPrefix] in the native
	// layout, the chroot itself in the others.
	Prefix string

	// Layout says how nodes are named. Empty: [Native]. All clients of a lock must use the same layout.
	Layout Layout

	// User and Password identify the client by ZooKeeper's digest scheme. Nodes then belong to this user alone,
	// unless ACL says otherwise. Empty: the client has no identity, and nodes are open to everybody.
	User, Password string

	// SASL identifies the user by SASL with DIGEST-MD5 instead. The server looks the user up in the section Server
	// of its JAAS configuration, and the password is not sent. Kerberos is not supported.
	SASL bool

	// ACL is the access control list of the nodes that are made. Empty: see User.
	ACL []zk.ACL

	// SessionBytes bounds the names of all nodes of one session together. A session that is full takes no more claims,
	// and the client begins another one. It should be at most half of the servers' jute.maxbuffer: they load no
	// database in which the end of a session is larger. Zero: [DefaultSessionBytes].
	SessionBytes int

	// Dial connects to a server. Nil: plain TCP.
	Dial zk.Dialer

	// TLS encrypts the connections, which then go to the servers' secureClientPort. If its ServerName is empty, it is
	// the host of each server. Nil: nothing is encrypted.
	TLS *tls.Config
}

func (o *Options) keys() (k keyspace, err error) {
	k.layout = o.Layout
	switch o.Layout {
	case Native, "":
		k.layout = Native
	case Curator, Kazoo:
	default:
		return k, fmt.Errorf("zklock: unknown layout %q; it should be %q, %q or %q", o.Layout, Native, Curator, Kazoo)
	}
	prefix := o.Prefix
	if prefix == "" && k.layout == Native {
		prefix = DefaultPrefix
	}
	k.chroot = below("", o.Chroot)
	k.root = below(k.chroot, prefix)
	if err := checkPath(k.root); err != nil {
		return k, fmt.Errorf("zklock: chroot and prefix: %w", err)
	}
	return k, nil
}

// room is how many bytes the nodes of a session may come to.
func (o *Options) room() (int, error) {
	switch {
	case o.SessionBytes == 0:
		return DefaultSessionBytes, nil
	case o.SessionBytes < leastSessionBytes || o.SessionBytes > mostSessionBytes:
		return 0, fmt.Errorf("zklock: SessionBytes is %d; it should be %d to %d",
			o.SessionBytes, leastSessionBytes, mostSessionBytes)
	}
	return o.SessionBytes, nil
}

// below is the path of a node below another one, of which slashes at either end do not matter.
func below(root, path string) string {
	path = strings.Trim(path, "/")
	if path == "" {
		return root
	}
	return root + "/" + path
}

func (o *Options) acl() []zk.ACL {
	switch {
	case len(o.ACL) > 0:
		return o.ACL
	case o.User != "":
		return zk.AuthACL(zk.PermAll)
	default:
		return zk.WorldACL(zk.PermAll)
	}
}
