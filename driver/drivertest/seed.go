package drivertest

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// seedVariable replays a run where flags cannot be passed.
const seedVariable = "HOLDFAST_TEST_SEED"

var seedFlag = flag.Uint64("drivertest.seed", 0,
	"seed of what drivertest draws at random; 0 draws one, or takes "+seedVariable)

// seed is what all that is drawn follows from, the same for the whole run.
var seed = sync.OnceValue(func() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	if given, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil && given != 0 {
		return given
	}
	return rand.Uint64N(1_000_000)
})

// random returns a source for the nth purpose of a test. The same test draws the same from it in
// each run with one seed.
func random(t testing.TB, n int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(seed()+uint64(n), h.Sum64()))
}

// tellSeed says how to run a failed test again.
func tellSeed(t testing.TB) {
	if t.Failed() {
		t.Logf("run again with -drivertest.seed=%d or %s=%d", seed(), seedVariable, seed())
	}
}
