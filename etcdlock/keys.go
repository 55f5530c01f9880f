package etcdlock

import (
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// A Layout says how the keys of claims are named.
type Layout string

const (
	// Native is the layout of Holdfast: <prefix>/<encoded name>/<claim ID>/<lease>. Any name is safe.
	Native Layout = "holdfast"

	// Concurrency is the layout of etcd's own concurrency.Mutex and of etcdctl lock, to share locks with them:
	// <prefix><name>/<claim ID>/<lease>, with the name as it is. Their keys, <name>/<lease>, count as exclusive claims.
	Concurrency Layout = "concurrency"
)

// keyspace knows where things are kept.
type keyspace struct {
	root   string
	layout Layout
}

// names is what the keys of all queues begin with.
func (k keyspace) names() string {
	if k.layout == Concurrency {
		return k.root
	}
	return k.root + "/"
}

// queue is what the keys of all claims on a lock begin with.
func (k keyspace) queue(name string) string {
	if k.layout == Concurrency && driver.HoldsNotes(name) {
		return k.notes() + driver.EncodeName(name, 0) + "/"
	}
	if k.layout == Concurrency {
		return k.root + name + "/"
	}
	return k.names() + driver.EncodeName(name, 0) + "/"
}

// claim is what the key of a claim begins with; the lease that it was made on follows. Whichever client made the
// claim, one comparison over this range finds it.
func (k keyspace) claim(name, id string) string { return k.queue(name) + id + "/" }

// tombstone is where the end of a claim is noted. No encoded name begins with a dot, so no queue is there.
func (k keyspace) tombstone(name, id string) string {
	return k.ended() + driver.EncodeName(name, 0) + "/" + id
}

// ended is what the notes of all ends begin with.
func (k keyspace) ended() string {
	if k.layout == Concurrency {
		return k.root + ".holdfast.ended/"
	}
	return k.root + "/.ended/"
}

// notes is what the keys of notes begin with in the layout [Concurrency]. Beside those of their lock `a/b`, they would
// be below `a`, and peers that want that one would wait for them.
func (k keyspace) notes() string { return k.root + ".holdfast.notes/" }

// value is where a lock keeps what one holder leaves to the next.
func (k keyspace) value(name string) string {
	if k.layout == Concurrency {
		return k.root + ".holdfast.values/" + driver.EncodeName(name, 0)
	}
	return k.root + "/.values/" + driver.EncodeName(name, 0)
}

func hexLease(lease clientv3.LeaseID) string { return strconv.FormatInt(int64(lease), 16) }

// peerKey takes the key of a concurrency.Mutex apart. ok is false when it is another key.
func peerKey(kv *mvccpb.KeyValue) (queue, id string, ok bool) {
	key := string(kv.Key)
	cut := strings.LastIndexByte(key, '/') + 1
	return key[:cut], key[cut:], cut > 1 && kv.Lease != 0 && key[cut:] == hexLease(clientv3.LeaseID(kv.Lease))
}

// claimKey takes the key of a claim of Holdfast apart. ok is false when it is another key.
func claimKey(key string) (queue, id string, ok bool) {
	cut := strings.LastIndexByte(key, '/')
	if cut < 0 {
		return "", "", false
	}
	idAt := strings.LastIndexByte(key[:cut], '/') + 1
	id = key[idAt:cut]
	return key[:idAt], id, idAt > 1 && id != "" && endsInLease(key)
}

// endsInLease reports whether what follows the last slash of a key can be a lease.
func endsInLease(key string) bool {
	last := key[strings.LastIndexByte(key, '/')+1:]
	lease, err := strconv.ParseInt(last, 16, 64)
	return err == nil && hexLease(clientv3.LeaseID(lease)) == last
}

// name decodes the name of the lock whose queue this is. Keys that others made are in none, whatever they look like.
func (k keyspace) name(queue string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSuffix(queue, "/"), k.names())
	if !ok || k.layout == Concurrency {
		return name, ok && name != ""
	}
	name, ok = driver.DecodeName(name)
	return name, ok && name != "" && k.queue(name) == queue
}
