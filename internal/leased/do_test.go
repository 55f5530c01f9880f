package leased

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Each operation of a batch goes one way: one for each lock is a part, if it can be, renewals are made together, and
// all others alone. One that is not gathered is a renewal, or alone.
func TestWays(t *testing.T) {
	on := func(name string, brief bool) driver.Op {
		return driver.Op{Kind: driver.OpRequest, Claim: driver.Claim{Name: name}, Brief: brief}
	}
	look := driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: "a"}, Brief: true}
	for _, test := range []struct {
		batch []driver.Op
		want  []string
	}{
		{[]driver.Op{on("a", false)}, []string{"alone"}},
		{[]driver.Op{look}, []string{"alone"}},
		{[]driver.Op{on("a", true)}, []string{"1 renewed"}},
		{[]driver.Op{on("odd", true)}, []string{"alone"}},
		{
			[]driver.Op{on("a", false), on("a", false), on("b", false), on("odd", false), on("odd", true), look},
			[]string{"2 together", "alone", "2 together", "alone", "alone", "alone"},
		},
		{
			[]driver.Op{on("a", true), on("a", true), on("a", false), look},
			[]string{"2 renewed", "2 renewed", "1 together", "alone"},
		},
	} {
		if got := waysOf(test.batch); !slices.Equal(got, test.want) {
			t.Errorf("%+v go %q, want %q", test.batch, got, test.want)
		}
	}
}

// waysOf is the way that each operation of a batch goes. An odd one cannot go with others, and a look at a queue is no
// part.
func waysOf(batch []driver.Op) []string {
	plain := func(at int, op *driver.Op) *int {
		if op.Claim.Name == "odd" || op.Kind == driver.OpQueue {
			return nil
		}
		return &at
	}
	tellAll := func(way string) func([]*int, func(int, driver.Result)) {
		return func(places []*int, tell func(int, driver.Result)) {
			for _, at := range places {
				tell(*at, driver.Result{Err: fmt.Errorf("%d %s", len(places), way)})
			}
		}
	}
	ways := make([]string, len(batch))
	var mu sync.Mutex
	Do(batch, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		ways[i] += r.Err.Error() // twice if it is answered twice
	}, Ways[int, int]{
		Part: plain, Together: tellAll("together"),
		Renewal: plain, Renew: tellAll("renewed"),
		Alone: func(driver.Op) driver.Result { return driver.Result{Err: errors.New("alone")} },
	})
	return ways
}
