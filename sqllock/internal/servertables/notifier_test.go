package servertables

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Nothing stays of a claim that has ended. What is told of its end late is not about a claim that was queued anew.
func TestNotifierForgets(t *testing.T) {
	var n notifier
	c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
	waits := func() *subscription {
		n.answered(c, driver.Status{Token: 1, TTL: c.TTL}, nil)
		return n.byID[c.ID]
	}
	first := waits()
	n.answered(c, driver.Status{}, driver.ErrGone)
	if len(n.byID) > 0 {
		t.Errorf("it remembers %v", n.byID)
	}
	second := waits()
	n.tell(first, notice{err: driver.ErrGone})
	if n.byID[c.ID] != second || second == first {
		t.Errorf("it remembers %v, want the claim that waits", n.byID)
	}
	n.tell(second, notice{err: driver.ErrGone})
	if len(n.byID) > 0 {
		t.Errorf("it remembers %v", n.byID)
	}
}

// A grant is news once, and when that was heard nothing is remembered of the claim.
func TestNotifierForgetsWhatIsGranted(t *testing.T) {
	var n notifier
	c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
	st := driver.Status{Token: 1, TTL: c.TTL}
	n.answered(c, st, nil)
	p := n.byID[c.ID]
	st.Granted = true
	for range 2 {
		n.answered(c, st, nil)
	}
	if news := <-p.news; !news.status.Granted {
		t.Errorf("the news is %+v; want that it is granted", news)
	}
	n.answered(c, st, nil)
	if len(p.news) > 0 {
		t.Error("it is told of the grant again")
	}
	n.tidy(p)
	if len(n.byID) > 0 {
		t.Errorf("it remembers %v", n.byID)
	}
}
