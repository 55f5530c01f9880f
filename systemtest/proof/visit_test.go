package proof

import (
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/systemtest/history"
)

// Who waited until its claim was broken may have been granted the lock by then, other than who was refused at once.
func TestBrokenWaiterWasNotRefused(t *testing.T) {
	store := memlock.New()
	client, other := holdfast.New(store), holdfast.New(store.Client()) // those of one client wait for each other there
	if _, err := other.Mutex("m").Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	mutex := client.Mutex("m")
	waited := make(chan error, 1)
	go func() {
		_, err := mutex.Lock(t.Context())
		waited <- err
	}()
	for waiting := false; !waiting; {
		queue, err := client.Queue(t.Context(), "m")
		if err != nil {
			t.Fatal(err)
		}
		if waiting = len(queue) == 2; waiting {
			if err := client.Break(t.Context(), "m", queue[1].ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-waited; outcome(err, t.Context()) != history.GaveUp {
		t.Errorf("%v is taken for %v", err, outcome(err, t.Context()))
	}
	if _, err := mutex.TryLock(t.Context()); outcome(err, t.Context()) != history.Taken {
		t.Errorf("%v is taken for %v", err, outcome(err, t.Context()))
	}
}
