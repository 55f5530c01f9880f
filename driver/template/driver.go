package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// These constants are the engine's. Whoever copies the driver decides about each of them.
const (
	backend      = "template"             // what people call the engine
	keyPrefix    = "holdfast/"            // begins the keys of locks
	keyLength    = 200                    // bytes of a key after that
	minTTL       = time.Second            // much more than a round trip, and than what the store's clock is exact to
	mostTries    = 100                    // of a write, before it is given up because others are always quicker
	firstPause   = 2 * time.Millisecond   // at most, after a conflict: about a round trip
	longestPause = 100 * time.Millisecond // after many conflicts
)

var traits = driver.Traits{
	Backend: backend, MinTTL: minTTL,
	Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
	Ops: driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpRevoke,
		driver.OpQueue, driver.OpWatch),
	Alone: 8, // measure what is right for the engine; 0 sends each operation by itself
}

// A Driver is a client of a store. It implements [driver.Driver], [driver.Lister] and [driver.Checker].
type Driver struct {
	store Store

	closed  atomic.Bool
	mu      sync.Mutex
	tells   map[*func(driver.Event)]struct{}
	watches map[string]*watch // by the name of the lock
}

// New returns a client of a store, which stays the caller's.
func New(s Store) *Driver {
	return &Driver{store: s, tells: make(map[*func(driver.Event)]struct{}), watches: make(map[string]*watch)}
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits { return traits }

// Close implements [driver.Driver].
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed.Store(true)
	clear(d.tells)
	for _, w := range d.watches {
		w.stop()
	}
	clear(d.watches)
	return nil
}

// Do implements [driver.Driver]. Operations on one lock are one write. Locks do not wait for each other.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	locks := make(map[string][]int) // places in the batch, by the name of the lock
	d.mu.Lock()
	for i, op := range batch {
		locks[op.Claim.Name] = append(locks[op.Claim.Name], i)
		if op.Kind == driver.OpRelease { // its client knows what becomes of it
			d.unfollow(op.Claim)
		}
	}
	d.mu.Unlock()
	var all sync.WaitGroup
	panics := make(chan any, len(locks))
	for _, places := range locks {
		all.Go(func() {
			defer func() { panics <- recover() }()
			d.doOnLock(ctx, batch, places, done)
		})
	}
	all.Wait()
	for range locks {
		if p := <-panics; p != nil {
			panic(p) // where the caller can recover from it
		}
	}
}

// doOnLock does the operations at some places of a batch, which are all on one lock.
func (d *Driver) doOnLock(ctx context.Context, batch []driver.Op, places []int, done func(int, driver.Result)) {
	ops, results := make([]driver.Op, len(places)), make([]driver.Result, len(places))
	for i, place := range places {
		ops[i] = batch[place]
	}
	err := d.update(ctx, ops, results)
	for i, place := range places {
		if err != nil {
			results[i] = driver.Result{Err: err}
		}
		d.follow(ops[i], &results[i])
		done(place, results[i])
	}
}

func key(name string) string { return keyPrefix + driver.EncodeName(name, keyLength) }

// update does operations on one lock, and sets their results unless there is an error, which is that of all. After a
// conflict, which is a sure no, it begins again. After any other error of a write it does not: the write may have been
// done, and the caller decides for how long it sends the same operations again.
func (d *Driver) update(ctx context.Context, ops []driver.Op, results []driver.Result) error {
	pause := driver.Backoff{First: firstPause, Most: longestPause, Scatter: true}
	for range mostTries {
		err := d.updateOnce(ctx, ops, results)
		if errors.Is(err, driver.ErrRefused) && len(ops) > 1 { // all of them may be too much for the store
			return fmt.Errorf("%w: %v", driver.ErrBatchRejected, err)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if err := pause.Pause(ctx); err != nil {
			return nothingDone(err)
		}
	}
	return nothingDone(fmt.Errorf("%s: others were quicker to write the lock %d times", backend, mostTries))
}

func (d *Driver) updateOnce(ctx context.Context, ops []driver.Op, results []driver.Result) error {
	if d.closed.Load() {
		return nothingDone(driver.ErrClosed)
	}
	name := ops[0].Claim.Name
	read, err := d.store.Get(ctx, key(name))
	if err != nil {
		return nothingDone(err)
	}
	q, err := decode(name, read)
	if err != nil {
		return err
	}
	q.dropExpired()
	for i, op := range ops {
		results[i] = q.apply(op)
	}
	if q.changed {
		data, _ := json.Marshal(q) // its types can always be encoded
		err = d.store.Put(ctx, key(name), read.Revision, data, q.keep())
	}
	return err
}

// nothingDone is an error from before a write was sent: unless it is an answer, the operation may be sent again.
func nothingDone(err error) error {
	if driver.IsAnswer(err) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrUnsent, err)
}

// List implements [driver.Lister]. It reads each record: that of a lock whose claims have ended is still there, and a
// long name stands only in it.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for key, err := range d.store.Keys(ctx, keyPrefix) {
			name, taken := "", false
			if err == nil {
				name, taken, err = d.nameOf(ctx, key)
			}
			listed := err != nil || taken && strings.HasPrefix(name, prefix)
			if listed && !yield(name, err) || err != nil {
				return
			}
		}
	}
}

// nameOf returns the name of the lock with this key, and whether it has claims, or a record that cannot be read.
func (d *Driver) nameOf(ctx context.Context, key string) (name string, taken bool, err error) {
	name, known := driver.DecodeName(strings.TrimPrefix(key, keyPrefix))
	r, err := d.store.Get(ctx, key)
	if err != nil {
		return "", false, err
	}
	q, err := decode(name, r)
	if err != nil && known {
		return name, true, nil // who asks for its queue learns what is wrong
	}
	q.dropExpired()
	return string(q.Name), len(q.Claims) > 0, err
}

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	begin := time.Now()
	r, err := d.store.Get(ctx, keyPrefix)
	return []driver.Finding{driver.CompareClocks(r.Now, begin, time.Now())}, err
}
