package driver_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ask is a claim of weight of limit units.
type ask struct{ weight, limit int64 }

var (
	mutex  = ask{1, 1}
	reader = ask{1, driver.All}
	writer = ask{driver.All, driver.All}
)

func queue(asks ...ask) []driver.Claim {
	claims := make([]driver.Claim, len(asks))
	for i, a := range asks {
		claims[i] = driver.Claim{ID: fmt.Sprint(i), Weight: a.weight, Limit: a.limit}
	}
	return claims
}

func TestGranted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		queue []ask
		want  int // so many at the front are granted
	}{
		{"nobody", nil, 0},
		{"one", []ask{mutex}, 1},
		{"a mutex has one holder", []ask{mutex, mutex, mutex}, 1},
		{"readers share", []ask{reader, reader, reader}, 3},
		{"a writer is alone", []ask{writer, reader}, 1},
		{"readers keep a writer out", []ask{reader, reader, writer}, 2},
		{"a waiting writer keeps readers out", []ask{reader, writer, reader}, 1},
		{"a semaphore is filled", []ask{{1, 3}, {2, 3}, {1, 3}}, 2},
		{"a light claim does not pass a heavy one", []ask{{2, 3}, {2, 3}, {1, 3}}, 1},
		{"the claim's own limit counts", []ask{{1, 5}, {1, 5}, {1, 2}}, 2},
		{"the limits ahead count", []ask{{1, 2}, {1, 5}, {1, 5}}, 2},
		{"a smaller limit stays in force", []ask{{2, 5}, {1, 3}, {1, 9}}, 2},
		{"sums of the largest weights do not overflow", []ask{writer, writer, writer, writer, reader}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claims := queue(tt.queue...)
			for i, c := range claims {
				if got := driver.Granted(claims, c.ID); got != (i < tt.want) {
					t.Errorf("claim %d of %v: granted is %v, want %v", i, tt.queue, got, !got)
				}
			}
		})
	}
}

func TestGrantedUnknown(t *testing.T) {
	if driver.Granted(queue(mutex), "another") {
		t.Error("a claim that is not in the queue is granted")
	}
}

// randomQueues draws so many queues.
func randomQueues(r *rand.Rand, n int) iter.Seq[[]driver.Claim] {
	return func(yield func([]driver.Claim) bool) {
		for range n {
			if !yield(randomQueue(r)) {
				return
			}
		}
	}
}

// randomQueue draws limits and weights that often fit together, and some that are as large as can be.
func randomQueue(r *rand.Rand) []driver.Claim {
	asks := make([]ask, 1+r.IntN(12))
	for i := range asks {
		switch limit := 1 + r.Int64N(8); r.IntN(6) {
		case 0:
			asks[i] = writer
		case 1:
			asks[i] = reader
		default:
			asks[i] = ask{1 + r.Int64N(limit), limit}
		}
	}
	return queue(asks...)
}

// Properties that hold on every queue, whatever it asks for.
func TestGrantedProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for claims := range randomQueues(r, 5000) {
		granted := 0
		for i, c := range claims {
			if driver.Granted(claims, c.ID) {
				if i > granted {
					t.Fatalf("%+v: claim %d is granted, but not all ahead of it", claims, i)
				}
				granted++
			}
		}
		if granted == 0 {
			t.Fatalf("%+v: the oldest claim is not granted", claims)
		}
		sharesLimit(t, claims[:granted])
		leavingOnlyMakesRoom(t, claims, granted, r.IntN(len(claims)))
	}
}

// sharesLimit fails if claims that are granted together weigh more than one of them allows.
func sharesLimit(t *testing.T, granted []driver.Claim) {
	t.Helper()
	sum := int64(0)
	for _, c := range granted {
		sum += c.Weight
	}
	for _, c := range granted {
		if sum > c.Limit {
			t.Fatalf("%+v: %d units are granted together, one claim allows %d", granted, sum, c.Limit)
		}
	}
}

// leavingOnlyMakesRoom fails if a grant is taken back when another claim leaves the queue.
func leavingOnlyMakesRoom(t *testing.T, claims []driver.Claim, granted, leaves int) {
	t.Helper()
	rest := append(append([]driver.Claim{}, claims[:leaves]...), claims[leaves+1:]...)
	for i, c := range claims[:granted] {
		if i != leaves && !driver.Granted(rest, c.ID) {
			t.Fatalf("%+v: claim %d is not granted any more when claim %d has left", claims, i, leaves)
		}
	}
}

func entries(claims []driver.Claim, left ...time.Duration) []driver.Entry {
	list := make([]driver.Entry, len(claims))
	for i, c := range claims {
		c.Token, c.TTL = uint64(100+i), time.Minute
		list[i] = driver.Entry{Claim: c, Left: time.Minute}
		if i < len(left) {
			list[i].Left = left[i]
		}
	}
	return list
}

func TestStatusOf(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		name  string
		queue []driver.Entry
		want  []driver.Status // tokens and TTLs are those of the entries
	}{
		{"alone", entries(queue(mutex)), []driver.Status{{Granted: true}}},
		{
			"the next in line, and nobody else, knows when to ask",
			entries(queue(mutex, mutex, mutex), 3*second),
			[]driver.Status{{Granted: true, Contended: true}, {Retry: 3 * second, Contended: true}, {}},
		},
		{
			"the claim ahead that ends first may make room",
			entries(queue(reader, reader, writer, reader), 5*second, 2*second, second),
			[]driver.Status{
				{Granted: true, Contended: true}, {Granted: true, Contended: true},
				{Retry: 2 * second, Contended: true}, {},
			},
		},
		{
			"a claim that is about to end is worth asking soon",
			entries(queue(mutex, mutex), 0),
			[]driver.Status{{Granted: true, Contended: true}, {Retry: 1}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, want := range tt.want {
				want.Token, want.TTL = tt.queue[i].Token, tt.queue[i].TTL
				if got, ok := driver.StatusOf(tt.queue, tt.queue[i].ID); !ok || got != want {
					t.Errorf("claim %d: got %+v, %v, want %+v", i, got, ok, want)
				}
			}
		})
	}
	if _, ok := driver.StatusOf(entries(queue(mutex)), "another"); ok {
		t.Error("a claim that is not in the queue has a status")
	}
}

// StatusOf follows the same rule as Granted.
func TestStatusOfAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for claims := range randomQueues(r, 2000) {
		waiting := 0
		for i, c := range claims {
			st, ok := driver.StatusOf(entries(claims), c.ID)
			if granted := driver.Granted(claims, c.ID); !ok || st.Granted != granted {
				t.Fatalf("%+v: claim %d: StatusOf says granted %v, Granted %v", claims, i, st.Granted, granted)
			}
			if !st.Granted {
				waiting++
			}
			if nextInLine := !st.Granted && waiting == 1; nextInLine != (st.Retry > 0) {
				t.Fatalf("%+v: claim %d: next in line: %v, Retry %v", claims, i, nextInLine, st.Retry)
			}
			if st.Contended != (i < len(claims)-1) {
				t.Fatalf("%+v: claim %d: Contended is %v", claims, i, st.Contended)
			}
		}
	}
}
