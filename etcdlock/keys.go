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
	// Native is the layout of Holdfast: <prefix>/<encoded name>/<lease>/<number>. Any name is safe.
	Native Layout = "holdfast"

	// Concurrency is the layout of etcd's own concurrency.Mutex and of etcdctl lock, to share locks with them:
	// <prefix><name>/<lease>/<number>, with the name as it is. Their keys, <name>/<lease>, count as exclusive claims.
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

// claimAt is the key of a claim: its client has the lease, and numbers its claims in the queue.
func claimAt(queue string, lease clientv3.LeaseID, number int) string {
	return queue + hexLease(lease) + "/" + strconv.FormatInt(int64(number), 16)
}

func hexLease(lease clientv3.LeaseID) string { return strconv.FormatInt(int64(lease), 16) }

// peerKey takes the key of a concurrency.Mutex apart. ok is false when it is another key.
func peerKey(kv *mvccpb.KeyValue) (queue, id string, ok bool) {
	key := string(kv.Key)
	cut := strings.LastIndexByte(key, '/') + 1
	return key[:cut], key[cut:], cut > 1 && kv.Lease != 0 && key[cut:] == hexLease(clientv3.LeaseID(kv.Lease))
}

// queueOf is what the keys of the queue begin with that has this key of a claim of Holdfast. ok is false when it is
// another key.
func queueOf(key string) (queue string, ok bool) {
	cut := strings.LastIndexByte(key, '/')
	if cut < 0 || !endsInHex(key) || !endsInHex(key[:cut]) {
		return "", false
	}
	queue = key[:strings.LastIndexByte(key[:cut], '/')+1]
	return queue, len(queue) > 1
}

// endsInHex reports whether what follows the last slash of a key can be a lease, or a number of ours.
func endsInHex(key string) bool {
	last := key[strings.LastIndexByte(key, '/')+1:]
	n, err := strconv.ParseInt(last, 16, 64)
	return err == nil && strconv.FormatInt(n, 16) == last
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
