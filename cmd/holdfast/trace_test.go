package main

import (
	"testing"
	"testing/synctest"
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
