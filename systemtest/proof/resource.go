package proof

import (
	"encoding/json"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// Resources are numbers that are fenced, one behind each lock: who has seen a greater token refuses a smaller one, for
// reads too. Holders read the number and write the next one, so what is written by two that believe they hold the lock
// would be missing in the end.
type resources struct {
	socket string

	mu      sync.Mutex
	numbers map[string]*number
	touches []Touch
}

type number struct {
	token uint64 // the greatest that was seen
	value int64
}

// newResources serves them until the test ends.
func newResources(t testing.TB) *resources {
	t.Helper()
	r := &resources{socket: filepath.Join(t.TempDir(), "resources"), numbers: make(map[string]*number)}
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { r.serve(c) }) // ends with the visitor's process
		}
	})
	return r
}

func (r *resources) serve(c net.Conn) {
	defer c.Close()
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var t Touch
		if in.Decode(&t) != nil || out.Encode(r.touch(t)) != nil {
			return
		}
	}
}

// touch does what is asked, and returns what came of it.
func (r *resources) touch(t Touch) Touch {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.numbers[t.Lock]
	if n == nil {
		n = new(number)
		r.numbers[t.Lock] = n
	}
	t.At = now()
	t.Refused = t.Token < n.token
	switch {
	case t.Refused:
	case t.Write:
		n.token, n.value = t.Token, t.Value
	default:
		n.token, t.Value = t.Token, n.value
	}
	r.touches = append(r.touches, t)
	return t
}

// all returns the touches so far.
func (r *resources) all() []Touch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.touches
}
