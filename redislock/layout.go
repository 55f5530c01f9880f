package redislock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// A Layout is how locks are kept. That of another library lets its clients and ours exclude each other.
type Layout string

const (
	// Native is the layout of Holdfast: a queue for each lock. With an empty prefix it excludes, and is excluded by,
	// clients that follow the published pattern SET key value NX PX: redsync, bsm/redislock, rueidislock at a majority
	// of 1, redlock from npm.
	Native Layout = ""
	// PythonRedisLock is the layout of python-redis-lock: a string lock:NAME, and a list lock-signal:NAME that wakes
	// clients that wait.
	PythonRedisLock Layout = "python-redis-lock"
	// Redisson is the layout of Redisson's RLock: a hash NAME from owner to count, and a channel that
	// wakes clients that wait.
	Redisson Layout = "redisson"
)

// check returns an error for a name that is not the name of a layout.
func (l Layout) check() error {
	switch l {
	case Native, PythonRedisLock, Redisson:
		return nil
	}
	return fmt.Errorf("the layout is %q; it should be %s or %s, or left out", string(l), PythonRedisLock, Redisson)
}

// popFor is how long one BLPOP for a signal of python-redis-lock blocks: less than clients allow for an answer.
const popFor = time.Second

// A form is how a layout keeps one lock.
type form struct {
	lock   string // the key whose existence is the lock
	signal string // the list or channel that tells of its end
}

func (l Layout) form(name string) form {
	if l == PythonRedisLock {
		return form{lock: "lock:" + name, signal: "lock-signal:" + name}
	}
	return form{lock: name, signal: "redisson_lock__channel:" + braced(name)}
}

// braced puts a name into braces unless it has some, as Redisson does to keep keys in one slot.
func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// owner returns what the layout calls a claim. It follows from the ID, so a repeated request has the same owner.
// Redisson's owners have the form UUID:THREAD.
func (l Layout) owner(id string) string {
	if l == PythonRedisLock {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-4" + text[13:16] + "-a" + text[17:20] + "-" + text[20:] + ":1"
}
