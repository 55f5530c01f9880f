// Package bubble lets testing/synctest and the race detector work together, and counts goroutines.
//
// The runtime of Go keeps one context of the race detector for all timers of a bubble. When two processors run timers
// of one bubble at the same time, both write to it, and the program crashes: "ThreadSanitizer: CHECK failed:
// tsan_rtl.cpp", or a segmentation violation somewhere in the detector. How often that happens depends on how busy
// the machine is. With one processor it cannot happen, and the detector loses nothing: it compares what is ordered,
// not what was at the same time.
package bubble

import (
	"flag"
	"runtime"
	"testing"
)

// Main runs the tests of a package that has bubbles, in place of m.Run: with one processor under the race detector,
// whatever -cpu says.
func Main(m *testing.M) {
	if Raced {
		flag.Parse() // or m.Run would, and undo what follows
		if err := flag.Set("test.cpu", "1"); err != nil {
			panic(err) // the flag is there in every test
		}
	}
	m.Run()
}

// Alone leaves one processor under the race detector until restore is called, for bubbles in packages that need all of
// them otherwise.
func Alone() (restore func()) {
	if !Raced {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// Goroutines counts the goroutines of the process. [runtime.NumGoroutine] may count some that have ended, 32 at a time;
// a profile stops them all, and counts.
func Goroutines() int {
	n, _ := runtime.GoroutineProfile(make([]runtime.StackRecord, 5000))
	return n
}
