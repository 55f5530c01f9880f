package cases

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
)

// aClient notes which names it locks. That takes no time, or more each time that a name is used.
type aClient struct {
	id    int
	world *world
}

type world struct {
	mu      sync.Mutex
	clients int
	cycles  []use
	uses    map[string]int
	slower  time.Duration // each cycle than the one before on its name
}

type use struct {
	client int
	name   string
}

func (w *world) contender() contender.Contender {
	w.uses = make(map[string]int)
	return contender.Contender{Open: func(context.Context, string) (contender.Client, error) {
		w.clients++
		return aClient{w.clients, w}, nil
	}}
}

func (c aClient) Lock(_ context.Context, name string) (contender.Held, error) {
	c.world.mu.Lock()
	c.world.cycles = append(c.world.cycles, use{c.id, name})
	c.world.uses[name]++
	slow := time.Duration(c.world.uses[name]) * c.world.slower
	c.world.mu.Unlock()
	time.Sleep(slow)
	return held{}, nil
}

func (aClient) Close() error { return nil }

type held struct{}

func (held) Unlock(context.Context) error { return nil }

func TestUsedLongFindsThatCyclesTakeLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world{slower: time.Millisecond}
		sample, err := UsedLong(100).Run(t.Context(), &engine.Engine{}, w.contender())
		if err != nil {
			t.Fatal(err)
		}
		if first, last := sample["first.p50"], sample["last.p50"]; first != 5_500 || last != 95_500 {
			t.Errorf("the first cycles took %v µs and the last %v, want 5500 and 95500", first, last)
		}
	})
}

func TestAlternatingUsesOneNameInTurns(t *testing.T) {
	var w world
	if _, err := Alternating(10).Run(t.Context(), &engine.Engine{}, w.contender()); err != nil {
		t.Fatal(err)
	}
	last := w.cycles[len(w.cycles)-10:]
	for i, u := range last[1:] {
		if u.name != last[0].name || u.client == last[i].client {
			t.Fatalf("clients and names were %v, want one name, and another client each time", last)
		}
	}
}

func TestFreshUsesNoNameTwice(t *testing.T) {
	var w world
	if _, err := Fresh(10).Run(t.Context(), &engine.Engine{}, w.contender()); err != nil {
		t.Fatal(err)
	}
	for name, uses := range w.uses {
		if uses != 1 {
			t.Errorf("%s was used %d times", name, uses)
		}
	}
}

func TestClientsHaveANameEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world{slower: time.Millisecond}
		sample, err := Clients(4, time.Second).Run(t.Context(), &engine.Engine{}, w.contender())
		if err != nil {
			t.Fatal(err)
		}
		pairs := make(map[use]bool)
		for _, u := range w.cycles[4:] { // each has opened its connections by one cycle
			pairs[u] = true
		}
		clients, names := make(map[int]bool), make(map[string]bool)
		for u := range pairs {
			clients[u.client], names[u.name] = true, true
		}
		if len(pairs) != 4 || len(clients) != 4 || len(names) != 4 {
			t.Errorf("%d clients used %d names in %d ways, want 4 with a name each",
				len(clients), len(names), len(pairs))
		}
		// The n-th cycle takes n ms: 14 make 105 ms, and 46 make 1081.
		if got := sample["clients.count"]; got < 4*30 || got > 4*46 {
			t.Errorf("4 clients did %v cycles in a second", got)
		}
	})
}

func TestResidueIsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes := []int64{1000, 4000, 3000, 1500} // before, at once, and after each second
		e := &engine.Engine{Size: func() int64 {
			size := sizes[0]
			sizes = sizes[1:]
			return size
		}}
		var w world
		sample, err := Residue(100, 4, 2*time.Second).Run(t.Context(), e, w.contender())
		if err != nil {
			t.Fatal(err)
		}
		if now, later := sample["residue.now"], sample["residue.later"]; now != 30 || later != 5 {
			t.Errorf("each name left %v bytes, and later %v, want 30 and 5", now, later)
		}
		if len(w.uses) != 100+warmUp {
			t.Errorf("%d names were used, want 100 and those to warm up", len(w.uses))
		}
	})
}
