package redislock

import (
	"fmt"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// keys are the names of a lock's keys. All lie in one slot of a cluster.
type keys struct {
	lock, claims, order, expiry string
	list                        []string // all of them; nobody changes it
	value                       string   // what is kept between holders; most locks have none
}

const keysOfLock = 4

const (
	claimsSuffix = ":claims"
	orderSuffix  = ":order"
	expirySuffix = ":expiry"
	valueSuffix  = ":value"
)

func (k keys) all() []string { return k.list }

// tagged returns the keys that begin with base: the prefix and the name in braces, which keep all keys in one slot.
func tagged(lock, base string) keys {
	k := keys{lock: lock, claims: base + claimsSuffix, order: base + orderSuffix, expiry: base + expirySuffix}
	k.value = base + valueSuffix
	k.list = []string{k.lock, k.claims, k.order, k.expiry}
	return k
}

// A keyspace is where a driver keeps its locks: it finds the keys for a name, and the name for a key.
type keyspace struct {
	prefix string
	bare   bool // the name of a lock is its key, see [Options.NoPrefix]
	known  knownKeys
}

func newKeyspace(o Options) *keyspace { return &keyspace{prefix: o.Prefix, bare: o.NoPrefix} }

// of returns the keys of the lock with this name.
func (s *keyspace) of(name string) (keys, error) {
	if k, ok := s.known.find(name); ok {
		return k, nil
	}
	k, err := s.make(name)
	if err == nil {
		s.known.add(name, k)
	}
	return k, err
}

func (s *keyspace) make(name string) (keys, error) {
	if !s.bare {
		base := s.prefix + "{" + driver.EncodeName(name, 0) + "}"
		return tagged(base, base), nil
	}
	if strings.Contains(name, "}") {
		return keys{}, fmt.Errorf("%w: %q is used as a key, and with a closing brace its keys would lie "+
			"on different nodes of a cluster; use a prefix or another name", driver.ErrInvalidName, name)
	}
	return tagged(name, "{"+name+"}"), nil
}

// knownKeys remembers the keys of some locks, because it takes longer to make them than to find them.
type knownKeys struct {
	mu     sync.RWMutex
	byName map[string]keys
}

// Bounds of what is remembered: less than a megabyte.
const (
	mostKnown    = 512
	longestKnown = 128
)

func (n *knownKeys) find(name string) (keys, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	k, ok := n.byName[name]
	return k, ok
}

func (n *knownKeys) add(name string, k keys) {
	if len(name) > longestKnown {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byName == nil {
		n.byName = make(map[string]keys)
	}
	for any := range n.byName {
		if len(n.byName) < mostKnown {
			break
		}
		delete(n.byName, any)
	}
	n.byName[name] = k
}

// nameOf returns the name of the lock whose claims are kept under this key, or which is the key itself.
func (s *keyspace) nameOf(key string) (string, bool) {
	name, ok := strings.CutSuffix(strings.TrimSuffix(key, claimsSuffix), "}")
	if !ok {
		return "", false
	}
	if name, ok = strings.CutPrefix(name, s.prefix+"{"); !ok {
		return "", false
	}
	if s.bare {
		return name, true
	}
	return driver.DecodeName(name)
}

// pattern matches the keys of claims of the locks whose names start with prefix; and where locks have a prefix these
// locks themselves, and their other keys.
func (s *keyspace) pattern(prefix string) string {
	if s.bare {
		return escapeGlob("{"+prefix) + "*}" + claimsSuffix
	}
	return escapeGlob(s.prefix+"{"+driver.EncodeName(prefix, 0)) + "*}*"
}

var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

func escapeGlob(s string) string { return globs.Replace(s) }
