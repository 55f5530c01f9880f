package redislock_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more tests run at once than there are processors: most of them wait most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "6")
	}
	os.Exit(m.Run())
}
