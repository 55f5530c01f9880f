package holdfast

import (
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A listed recipient keeps what it is told.
type listed struct{ events []driver.Event }

func (r *listed) told(e driver.Event) { r.events = append(r.events, e) }

// wantTold fails unless a recipient was told just these events.
func wantTold(t *testing.T, who string, r *listed, want ...driver.Event) {
	t.Helper()
	if !slices.Equal(r.events, want) {
		t.Errorf("%s was told %+v, want %+v", who, r.events, want)
	}
}

// An event about a claim that nobody waits for yet is told as soon as somebody does.
func TestInboxKeepsEarlyEvents(t *testing.T) {
	b := newInbox()
	granted := driver.Event{Name: "m", ID: "a", Status: driver.Status{Granted: true, Token: 7}}
	b.tell(driver.Event{Name: "m", ID: "a", Err: driver.ErrGone})
	before := b.mark()
	b.tell(driver.Event{Name: "m", ID: "a"})
	b.tell(granted)
	b.tell(driver.Event{Name: "m", ID: "stranger"})
	after := b.mark()
	var a, late, stranger, none listed
	b.addSince(before, "a", &a)
	b.addSince(after, "a", &late)
	b.add("stranger", &stranger)
	b.addSince(before, "none", &none)
	wantTold(t, "the first", &a, granted)
	wantTold(t, "one whose request was later", &late)
	wantTold(t, "one that asks for what comes", &stranger)
	wantTold(t, "another claim", &none)

	b.tell(driver.Event{})
	wantTold(t, "the first", &a, granted, driver.Event{})
	var other listed
	b.addSince(after, "b", &other)
	wantTold(t, "a claim that was requested before the connection was lost", &other, driver.Event{})
}

// Where more has come than the inbox keeps, anything may have happened.
func TestInboxKeepsSomeEarlyEvents(t *testing.T) {
	b := newInbox()
	first := driver.Event{Name: "m", ID: "a"}
	before := b.mark()
	b.tell(first)
	for range mostEarly - 1 {
		b.tell(driver.Event{Name: "m", ID: "stranger"})
	}
	var all, more listed
	b.addSince(before, "a", &all)
	wantTold(t, "one that can know", &all, first)
	b.tell(driver.Event{Name: "m", ID: "stranger"})
	b.addSince(before, "b", &more)
	wantTold(t, "one that cannot", &more, driver.Event{})
}

// Whenever an event comes after a request, its recipient is told, once.
func TestInboxAtOnce(t *testing.T) {
	for range 1000 {
		b, r := newInbox(), make(channelled, 2)
		before := b.mark()
		var both sync.WaitGroup
		both.Go(func() { b.tell(driver.Event{Name: "m", ID: "a"}) })
		both.Go(func() { b.addSince(before, "a", r) })
		both.Wait()
		if len(r) != 1 {
			t.Fatalf("the recipient was told %d times", len(r))
		}
	}
}

// A channelled recipient receives what it is told.
type channelled chan driver.Event

func (r channelled) told(e driver.Event) { r <- e }

// All recipients of a claim are told, until they are removed. Then nothing is left.
func TestInboxForgets(t *testing.T) {
	b := newInbox()
	var one, two listed
	b.add("a", &one)
	b.add("a", &two)
	changed, stop := b.watch("m")
	b.tell(driver.Event{Name: "m"})
	b.tell(driver.Event{Name: "m"})
	b.tell(driver.Event{Name: "other"})
	if len(changed) != 1 {
		t.Errorf("the onlooker has %d elements, want 1", len(changed))
	}
	b.remove("a", &one)
	e := driver.Event{Name: "m", ID: "a"}
	b.tell(e)
	wantTold(t, "the first", &one)
	wantTold(t, "the second", &two, e)
	b.remove("a", &two)
	stop()
	if n := len(b.claims) + len(b.queues); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}
