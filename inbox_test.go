package holdfast

import (
	"slices"
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
	b.expect("a")
	b.tell(driver.Event{Name: "m", ID: "a"})
	b.tell(granted)
	b.tell(driver.Event{Name: "m", ID: "stranger"})
	var a, late, stranger listed
	b.add("a", &a)
	wantTold(t, "the first", &a, granted)
	b.add("a", &late)
	b.add("stranger", &stranger)
	wantTold(t, "one who came later", &late)
	wantTold(t, "a claim that was not expected", &stranger)

	b.expect("b")
	b.tell(driver.Event{})
	wantTold(t, "the first", &a, granted, driver.Event{})
	var other listed
	b.add("b", &other)
	wantTold(t, "a claim that was expected while the connection was lost", &other, driver.Event{})
}

// All recipients of a claim are told, until they are removed. Then nothing is left.
func TestInboxForgets(t *testing.T) {
	b := newInbox()
	var one, two listed
	b.add("a", &one)
	b.add("a", &two)
	b.expect("b")
	b.tell(driver.Event{Name: "m", ID: "b"})
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
	b.forget("b")
	stop()
	if n := len(b.claims) + len(b.early) + len(b.queues); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}
