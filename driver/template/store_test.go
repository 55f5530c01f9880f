package template_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/template"
)

var errLost = errors.New("the answer was lost")

// Faults are how often calls of a memStore go wrong, from 0 to 1.
type faults struct {
	latency    time.Duration // each call takes up to so long
	loseCall   float64       // the call fails, and nothing was done
	loseAnswer float64       // the call fails, and it was done
	late       float64       // the call fails, and it is done later
	conflict   float64       // a Put is refused though nobody else has written
	loseNext   bool          // the next Put fails, and it is done
	watchDelay time.Duration // changes are told up to so much later, and those in between not at all
}

// A memStore is a template.Store in memory, with the clock of the machine or of a synctest bubble.
type memStore struct {
	faults faults

	beforePut, afterPut func() // called by each Put; nil: nothing is

	mu       sync.Mutex
	random   *rand.Rand
	keys     map[string]*stored
	watchers map[*watcher]struct{}
	writes   int // also the revision of the last
	reads    int
}

type stored struct {
	data     []byte
	revision int
	until    time.Time
}

type watcher struct {
	key     string
	changed func(template.Record)
	word    chan struct{}   // has an element while there is something to tell
	watched context.Context // until stop
}

func newStore(f faults, r *rand.Rand) *memStore {
	return &memStore{faults: f, random: r, keys: make(map[string]*stored), watchers: make(map[*watcher]struct{})}
}

// chance reports whether something happens that does so often.
func (s *memStore) chance(rate float64) bool {
	if rate == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Float64() < rate
}

// travel lets a message take its time.
func (s *memStore) travel(ctx context.Context, most time.Duration) error {
	if most == 0 {
		return ctx.Err()
	}
	s.mu.Lock()
	took := time.Duration(s.random.Int64N(int64(most)))
	s.mu.Unlock()
	return driver.Sleep(ctx, took)
}

func (s *memStore) Get(ctx context.Context, key string) (template.Record, error) {
	if err := s.travel(ctx, s.faults.latency); err != nil {
		return template.Record{}, err
	}
	if s.chance(s.faults.loseCall + s.faults.loseAnswer) {
		return template.Record{}, errLost
	}
	s.mu.Lock()
	s.reads++
	r := s.read(key)
	s.mu.Unlock()
	return r, s.travel(ctx, s.faults.latency)
}

// read returns a key that has not expired. mu is held.
func (s *memStore) read(key string) template.Record {
	now := time.Now().Round(0)
	k := s.keys[key]
	if k == nil || now.After(k.until) {
		delete(s.keys, key)
		return template.Record{Now: now}
	}
	return template.Record{Data: k.data, Revision: strconv.Itoa(k.revision), Now: now}
}

func (s *memStore) Put(ctx context.Context, key, revision string, data []byte, keep time.Duration) error {
	if err := s.travel(ctx, s.faults.latency); err != nil {
		return err
	}
	if s.beforePut != nil {
		s.beforePut()
	}
	switch {
	case s.chance(s.faults.conflict):
		return template.ErrConflict
	case s.chance(s.faults.loseCall):
		return errLost
	case s.chance(s.faults.late):
		time.AfterFunc(50*time.Millisecond, func() { s.write(key, revision, data, keep) })
		return errLost
	}
	err := s.write(key, revision, data, keep)
	if s.afterPut != nil {
		s.afterPut()
	}
	if s.chance(s.faults.loseAnswer) || s.faults.loseNext {
		s.faults.loseNext = false
		return errLost
	}
	return errors.Join(err, s.travel(ctx, s.faults.latency))
}

func (s *memStore) write(key, revision string, data []byte, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read(key).Revision != revision {
		return template.ErrConflict
	}
	s.writes++
	s.keys[key] = &stored{data, s.writes, time.Now().Add(keep)}
	for w := range s.watchers {
		if w.key == key {
			w.signal()
		}
	}
	return nil
}

func (w *watcher) signal() {
	select {
	case w.word <- struct{}{}:
	default: // it is about to be told anyway
	}
}

func (s *memStore) Watch(key string, changed func(template.Record)) (stop func()) {
	watched, end := context.WithCancel(context.Background())
	w := &watcher{key, changed, make(chan struct{}, 1), watched}
	w.signal()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[w] = struct{}{}
	go s.serve(w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
		end()
	}
}

// serve tells of changes: of the record as it was when the news set out, however late they are.
func (s *memStore) serve(w *watcher) {
	for {
		select {
		case <-w.watched.Done():
			return
		case <-w.word:
			s.mu.Lock()
			r := s.read(w.key)
			s.mu.Unlock()
			if s.travel(w.watched, s.faults.watchDelay) != nil {
				return
			}
			w.changed(r)
		}
	}
}

func (s *memStore) Keys(_ context.Context, prefix string) iter.Seq2[string, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := maps.Clone(s.keys)
	return func(yield func(string, error) bool) {
		for key := range keys {
			if strings.HasPrefix(key, prefix) && !yield(key, nil) {
				return
			}
		}
	}
}

// overwrite changes the data of a key without a word to anybody, and reports whether there is one.
func (s *memStore) overwrite(key string, change func([]byte) []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	if k == nil {
		return false
	}
	s.writes++
	k.data, k.revision = change(k.data), s.writes
	return true
}

// counts returns how many calls of Get and Put were served.
func (s *memStore) counts() (reads, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.writes
}
