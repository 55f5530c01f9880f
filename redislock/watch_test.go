package redislock

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// Each queue that was watched is told of when the server has forgotten that it is watched, and then nothing is left.
func TestLookOutsAreForgotten(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		const locks = 20
		in, told := newInbox(), make(map[string]int)
		in.subscribe(func(e driver.Event) { told[e.Name]++ })
		for i := range locks {
			in.lookOut(fmt.Sprint("key ", i), fmt.Sprint("lock ", i))()
		}
		time.Sleep(watchFor + time.Second)
		synctest.Wait()
		if len(told) != locks || len(in.lookOuts) > 0 {
			t.Errorf("%d of %d queues were told of, and %d are watched still", len(told), locks, len(in.lookOuts))
		}
	})
}

// A change that comes before the answer to the one who watches is told of again with that answer.
func TestChangeBeforeTheAnswer(t *testing.T) {
	in, told := newInbox(), 0
	in.subscribe(func(e driver.Event) {
		if e.Name == "jobs" {
			told++
		}
	})
	first, second := in.lookOut("key", "jobs"), in.lookOut("key", "jobs")
	first()
	in.deliver("w key")
	if told != 1 {
		t.Errorf("a change was told %d times", told)
	}
	if second(); told != 2 {
		t.Errorf("with the answer the change was told %d times, want twice", told)
	}
	if in.deliver("w key"); told != 2 || len(in.lookOuts) > 0 {
		t.Errorf("a change of which nobody wants to know was told: %d times", told)
	}
}
