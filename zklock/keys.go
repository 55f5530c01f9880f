package zklock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// A Layout says where the queue of a lock is and how the nodes of claims are named.
type Layout string

const (
	// Native is the layout of Holdfast: the queue of a lock is <prefix>/<encoded name>. Any name is safe.
	Native Layout = "holdfast"

	// Curator is for sharing locks with Apache Curator and with zk.Lock of go-zookeeper: the name of a lock is the path
	// that they lock, below the prefix. Exclusive claims are like those of InterProcessMutex; readers and writers are
	// like those of InterProcessReadWriteLock. Names that are no paths, or have a % in them, are safe but not shared.
	Curator Layout = "curator"

	// Kazoo is for sharing locks with kazoo's Lock, ReadLock and WriteLock: the name of a lock is the path that they
	// lock, below the prefix.
	Kazoo Layout = "kazoo"
)

// keyspace knows where things are kept.
type keyspace struct {
	chroot string // empty, or a path without a slash at its end; others may have it too
	root   string // the same, or below
	layout Layout
}

// queue is the node whose children are the claims on a lock.
func (k keyspace) queue(name string) string {
	if k.layout == Native || !isPlain(name) {
		return k.root + "/" + driver.EncodeName(name, 0)
	}
	return k.root + "/" + name
}

// ownsQueues reports whether nobody but clients of this layout has nodes where the queues are.
func (k keyspace) ownsQueues() bool { return k.layout == Native && k.root != k.chroot }

// Nodes beside the queues. No encoded name begins with a dot, and no other name may.
const (
	notesNode  = "/.claims"
	beatsNode  = "/.sessions"
	valuesNode = "/.values"
	deedsNode  = "/.notes"
)

// note is where a client keeps what others may want to know of a claim, and for a TTL afterwards how it ended.
func (k keyspace) note(name, id string) string {
	const longest = 65 // what follows a longer one's hash
	return k.notes() + id + "." + driver.EncodeName(name, longest)
}

// notes is what the paths of all notes begin with.
func (k keyspace) notes() string { return k.root + notesNode + "/" }

// value is where a lock keeps what one holder leaves to the next.
func (k keyspace) value(name string) string {
	return k.root + valuesNode + "/" + driver.EncodeName(name, 0)
}

// deeds is where it is noted what was done to the claims on a lock, and by whom.
func (k keyspace) deeds(name string) string {
	return k.root + deedsNode + "/" + driver.EncodeName(name, 0)
}

// beat is where a session notes that it is alive.
func (k keyspace) beat(session int64) string {
	return k.root + beatsNode + "/" + strconv.FormatUint(uint64(session), 16)
}

// top is the node below which the queues are.
func (k keyspace) top() string {
	if k.root == "" {
		return "/"
	}
	return k.root
}

// check reports why a lock cannot have this name.
func (k keyspace) check(name string) error {
	if first, _, _ := strings.Cut(name, "/"); k.root == "" && first == reserved {
		return fmt.Errorf("%w: ZooKeeper keeps %q for itself; use a prefix", driver.ErrInvalidName, first)
	}
	return nil
}

// isPlain reports whether a name is a path that ZooKeeper takes, in which nothing has a meaning of ours.
func isPlain(name string) bool {
	return checkPath("/"+name) == nil && name[0] != '.' && !strings.Contains(name, "%") && !hasClaim(name)
}

// reserved is the node that ZooKeeper keeps for itself.
const reserved = "zookeeper"

func hasClaim(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if _, ok := parse(part); ok {
			return true
		}
	}
	return false
}

// checkPath reports what ZooKeeper would have against a path. Empty stands for the root.
func checkPath(path string) error {
	if path == "" {
		return nil
	}
	if !utf8.ValidString(path) {
		return errors.New("it is not valid UTF-8")
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%q may not stand between slashes", part)
		}
	}
	if i := strings.IndexFunc(path, forbidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(path[i:])
		return fmt.Errorf("%q may not be in it", r)
	}
	return nil
}

// forbidden reports whether ZooKeeper refuses paths with this character. It looks at halves of those beyond 16 bits.
func forbidden(r rune) bool {
	return r <= 0x1f || 0x7f <= r && r <= 0x9f || 0xd800 <= r && r <= 0xf8ff || 0xfff0 <= r
}

// name is the name of the lock whose queue is at this path below the root.
func (k keyspace) name(path string) (name string, ok bool) {
	switch {
	case path == "" || path[0] == '.' || k.check(path) != nil:
		return "", false
	case k.layout != Native && isPlain(path):
		return path, true
	default:
		return driver.DecodeName(path)
	}
}
