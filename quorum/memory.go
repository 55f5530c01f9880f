package quorum

import (
	"sync"
	"time"
)

// A memory is what this client knows about names of locks. It may be forgotten: then a guess at a token is worse, a
// node votes later, or a request more is sent.
type memory struct {
	mu    sync.Mutex
	names map[string]*known
}

type known struct {
	used   time.Time
	token  uint64    // the greatest that was heard of
	filled []string  // by node: the life in which it has learnt the tokens that others gave out before
	had    time.Time // when this client released the lock last
	busy   bool      // others waited then
	looked time.Time // when it looked last whether others wait
}

const (
	mostNames = 10_000
	namesFor  = 10 * time.Minute // what was not used for so long is forgotten first
)

func newMemory() *memory { return &memory{names: make(map[string]*known)} }

// about lets fn use what is known about a name.
func (m *memory) about(name string, fn func(*known)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.names[name]
	if k == nil {
		m.makeRoom()
		k = &known{}
		m.names[name] = k
	}
	k.used = time.Now()
	fn(k)
}

func (m *memory) makeRoom() {
	if len(m.names) < mostNames {
		return
	}
	for name, k := range m.names {
		if time.Since(k.used) > namesFor {
			delete(m.names, name)
		}
	}
	for name := range m.names {
		if len(m.names) < mostNames*3/4 {
			return
		}
		delete(m.names, name)
	}
}

// guess returns a token that is probably greater than all before it: µs since 1970, or one more than the greatest that
// was heard of.
func (m *memory) guess(name string) (token uint64) {
	m.about(name, func(k *known) { token = max(k.token+1, uint64(time.Now().UnixMicro())) })
	return token
}

func (m *memory) heard(name string, token uint64) {
	m.about(name, func(k *known) { k.token = max(k.token, token) })
}

// fill notes that a node, in this life, knows the tokens of a name.
func (m *memory) fill(name string, node, nodes int, life string) {
	m.about(name, func(k *known) {
		if k.filled == nil {
			k.filled = make([]string, nodes)
		}
		k.filled[node] = life
	})
}

func (m *memory) isFilled(name string, node int, life string) (filled bool) {
	m.about(name, func(k *known) { filled = k.filled != nil && k.filled[node] == life })
	return filled
}

// Who had a lock a moment ago is at an advantage: its next request arrives before those who wait have heard of the
// release. So it stands in line first if others waited. To know that it looks, now and then.
const (
	momentAgo = time.Second
	lookEvery = 20 * time.Millisecond
)

func (m *memory) released(name string, contended bool) {
	m.about(name, func(k *known) { k.had, k.busy = time.Now(), contended })
}

func (m *memory) isBusy(name string) (busy bool) {
	m.about(name, func(k *known) { busy = k.busy && time.Since(k.had) < momentAgo })
	return busy
}

func (m *memory) shouldLook(name string) (should bool) {
	m.about(name, func(k *known) {
		should = time.Since(k.had) < momentAgo && time.Since(k.looked) >= lookEvery
		if should {
			k.looked = time.Now()
		}
	})
	return should
}
