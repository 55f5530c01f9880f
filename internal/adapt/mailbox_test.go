package adapt_test

import (
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/adapt"
)

func TestMailboxKeepsTheNewestWord(t *testing.T) {
	m := adapt.NewMailbox[int]()
	if !m.IsEmpty() {
		t.Error("a new mailbox is not empty")
	}
	m.Put(1)
	m.Put(2)
	if got := <-m.Word(); got != 2 || !m.IsEmpty() {
		t.Errorf("collected %d, empty %t; want the newest word, 2, and nothing after it", got, m.IsEmpty())
	}
	m.Put(3)
	m.Clear()
	m.Clear()
	if !m.IsEmpty() {
		t.Error("after Clear there is still something to collect")
	}
}

// Bringers never block, however many they are, and somebody who collects after all of them finds a word.
func TestMailboxTakesAnyNumberAtOnce(t *testing.T) {
	m := adapt.NewMailbox[struct{}]()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				m.Put(struct{}{})
			}
		})
		all.Go(func() { m.Clear() })
	}
	all.Wait()
	m.Put(struct{}{})
	<-m.Word()
}
