package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// Of answers that nobody reads some are kept, and the others counted.
func TestTraceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed []string
		free := make(chan struct{})
		tr := trace{print: func(x answer) {
			<-free
			printed = append(printed, x.result)
		}}
		tr.add(answer{result: "first"})
		synctest.Wait() // until that is about to be printed
		for range mostTraced + 9 {
			tr.add(answer{result: "granted"})
		}
		close(free)
		tr.await()
		tr.add(answer{result: "last"})
		tr.await()
		const last = "last, after 9 answers that nobody read"
		if n := len(printed); n != 1+mostTraced+1 || printed[0] != "first" || printed[n-1] != last {
			t.Errorf("%d are printed, the last as %q; want %d and %q", n, printed[n-1], 1+mostTraced+1, last)
		}
	})
}

// Each question to a backend is told with its answer, and so is what the backend tells of its own accord.
func TestTraceOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu   sync.Mutex
			told []string
		)
		store := memlock.New()
		d := traced(store.Client(), func(x answer) {
			mu.Lock()
			defer mu.Unlock()
			words := slices.DeleteFunc([]string{x.op, x.name, x.claim}, func(word string) bool { return word == "" })
			line := strings.Join(words, " ") + ": " + x.result
			if x.took != nil {
				line += fmt.Sprintf(" (%v)", *x.took)
			}
			told = append(told, line)
		})
		a, b := holdfast.New(d), holdfast.New(store.Client())
		defer b.Close(t.Context())
		held, err := b.Mutex("m").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(holdfast.DefaultTTL/2, func() { _ = held.Release(t.Context()) })
		lease, err := a.Mutex("m").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		queue, err := a.Queue(t.Context(), "m")
		if err != nil || len(queue) != 1 {
			t.Fatal(queue, err)
		}
		for _, err := range a.Names(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
		}
		for range a.Watch(t.Context(), "m") {
			break
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = a.Close(t.Context())
		_ = d.Close()
		claim := queue[0].ID
		want := []string{
			"request m " + claim + ": waits (0s)",
			"renew m " + claim + ": waits (0s)",
			"event m " + claim + ": granted",
			"queue m: 1 claim (0s)",
			"list: 1 name (0s)",
			"watch m: watched (0s)",
			"queue m: 1 claim (0s)",
			"event m: may have changed",
			"release m " + claim + ": released (0s)",
			"close: closed (0s)",
		}
		if !slices.Equal(told, want) {
			t.Errorf("told:\n%s\nwant:\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}
