package zklock

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	r := &room{most: 10}
	for i, step := range []struct {
		take place
		ok   bool
		give string
		used int
	}{
		{take: place{"larger than the room", 12}, ok: true, used: 12}, // it has to go somewhere
		{take: place{"a", 1}, used: 12},
		{give: "larger than the room"},
		{take: place{"a", 6}, ok: true, used: 6},
		{take: place{"a", 6}, ok: true, used: 6}, // it has it already
		{take: place{"b", 5}, used: 6},
		{give: "b", used: 6}, // it never had it
		{take: place{"b", 4}, ok: true, used: 10},
		{give: "a", used: 4},
		{give: "a", used: 4},
	} {
		if step.give != "" {
			r.give(step.give)
		} else if ok := r.take(step.take); ok != step.ok {
			t.Errorf("step %d: taken %v, want %v", i, ok, step.ok)
		}
		if r.used != step.used {
			t.Errorf("step %d: %d bytes are used, want %d", i, r.used, step.used)
		}
	}
}

// Whatever becomes of a claim, its places are free in the end: those of its node with it, that of its note later.
func TestRoomOfClaims(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	ctx := context.Background()
	name := strings.Repeat("n", 100)
	held := mutexClaim(name, time.Minute)
	st, err := d.Request(ctx, held)
	if err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	s := d.claims.Known(held).s
	both := s.room.used
	if nodes := (len(d.keys.queue(name)) + len(name)) / 2; both < 2*nodes {
		t.Errorf("a claim with a name of %d bytes uses %d", len(name), both)
	}
	ends := map[string]func(){
		"released": func() { c := mutexClaim("1", time.Minute); d.Request(ctx, c); d.Release(ctx, c) },
		"broken": func() {
			c := mutexClaim("2", time.Minute)
			d.Request(ctx, c)
			d.Break(ctx, c.Name, c.ID)
			d.Request(ctx, c)
		},
		"barred":  func() { d.Release(ctx, mutexClaim("3", time.Minute)) },
		"refused": func() { c := mutexClaim(name, time.Minute); c.ID, c.Queue = "other", false; d.Request(ctx, c) },
		"undone": func() {
			c := mutexClaim("4", time.Minute)
			d.enter(c, s)
			s.room.take(d.placesOf(c)...)
			d.Release(ctx, c)
		},
	}
	for how, end := range ends {
		end()
		s.tombstones.mu.Lock()
		for i := range s.tombstones.due {
			s.tombstones.due[i].when = 0
		}
		s.tombstones.mu.Unlock()
		s.sweep()
		if s.room.used != both {
			t.Errorf("after a claim was %s, %d bytes are used, want %d: %v", how, s.room.used, both, s.room.nodes)
		}
		if notes, err := s.children(ctx, d.keys.root+notesNode); err != nil || len(notes) != 1 {
			t.Errorf("after a claim was %s, the notes are %q, %v", how, notes, err)
		}
	}
}

// A note that could not be deleted takes its place until it is.
func TestSweepThatFails(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	d := inside(t, p.Addr)
	ctx, c := context.Background(), mutexClaim("job", time.Minute)
	s, err := d.sessionFor(ctx, c.TTL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Request(ctx, c); err != nil {
		t.Fatal(err)
	}
	if err := d.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	s.tombstones.due[0].when = 0
	p.DropNextReplyAfter([]byte(c.ID))
	s.sweep()
	if len(s.tombstones.due) != 1 || s.room.used == 0 {
		t.Fatalf("nobody knows of the note any more: %v", s.tombstones.due)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for s.sweep(); len(s.tombstones.due) > 0; s.sweep() { // the connection may be on its way still
		if driver.Sleep(ctx, 10*time.Millisecond) != nil {
			t.Fatalf("the note is not deleted: %v", s.tombstones.due)
		}
	}
	if s.room.used != 0 {
		t.Errorf("%d bytes are used when nothing is left", s.room.used)
	}
}
