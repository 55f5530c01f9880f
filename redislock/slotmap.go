package redislock

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// A slotMap knows which node of a cluster has which slots, as far as one has said. It needs no more than that: who is
// asked about a key of another node says so.
type slotMap struct {
	client rueidis.Client
	spans  atomic.Pointer[[]span]
	asking atomic.Bool
	due    atomic.Int64 // when to ask again, as the time since started
}

// A span is slots of one node.
type span struct {
	first, last int64
	node        string
}

const (
	slotsKnownFor = 2 * time.Second // until the cluster is asked again, of which any node answers, or hangs
	slotsPatience = time.Second
)

// nodeOf returns what is known, without waiting, and has the cluster asked where that is old.
func (m *slotMap) nodeOf(key string) string {
	if int64(time.Since(started)) >= m.due.Load() && m.asking.CompareAndSwap(false, true) {
		go m.ask() // ends after slotsPatience
	}
	spans := m.spans.Load()
	if spans == nil {
		return ""
	}
	get := m.client.B().Arbitrary("GET").Keys(key).Build()
	for _, s := range *spans {
		if slot := int64(get.Slot()); s.first <= slot && slot <= s.last {
			return s.node
		}
	}
	return ""
}

// ask keeps what was known where nobody answers.
func (m *slotMap) ask() {
	defer m.asking.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), slotsPatience)
	defer cancel()
	answer, err := m.client.Do(ctx, m.client.B().ClusterSlots().Build()).ToArray()
	m.due.Store(int64(time.Since(started) + slotsKnownFor))
	if err != nil {
		return
	}
	spans := make([]span, 0, len(answer))
	for _, part := range answer {
		if s, ok := readSpan(part); ok {
			spans = append(spans, s)
		}
	}
	m.spans.Store(&spans)
}

// readSpan reads the first slot, the last, and the servers that have them, the first of which takes writes.
func readSpan(part rueidis.RedisMessage) (s span, ok bool) {
	about, err := part.ToArray()
	if err != nil || len(about) < 3 {
		return s, false
	}
	server, err := about[2].ToArray()
	if err != nil || len(server) < 3 {
		return s, false
	}
	first, err1 := about[0].AsInt64()
	last, err2 := about[1].AsInt64()
	id, err3 := server[2].ToString()
	return span{first, last, id}, err1 == nil && err2 == nil && err3 == nil
}
