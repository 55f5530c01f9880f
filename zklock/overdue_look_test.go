package zklock

import (
	"testing"
	"time"
)

// An answer that is long keeps those behind it waiting, and no other connection would be quicker.
func TestLongAnswerIsNotOverdue(t *testing.T) {
	t.Parallel()
	shut := 0
	o := overdue{link: &link{timeout: time.Minute, shunned: &shunned{}}, shut: func() { shut++ }}
	defer o.end()
	o.sent([]byte{0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4})
	o.asked[0].at = o.asked[0].at.Add(-time.Hour)
	o.progress()
	if o.look(); shut != 0 {
		t.Error("the connection is closed while an answer comes in")
	}
	o.moved = o.moved.Add(-time.Hour)
	if o.look(); shut != 1 {
		t.Errorf("the connection was closed %d times, want once: nothing has come for an hour", shut)
	}
	if got, want := o.link.tolerance(), 4*time.Second; got != want {
		t.Errorf("the next server has %v, want %v", got, want)
	}
	if o.link.answered(); o.link.tolerance() != 2*time.Second {
		t.Errorf("after an answer the tolerance is %v", o.link.tolerance())
	}
}
