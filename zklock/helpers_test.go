package zklock_test

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/leasedtest"
)

// What tests of this package do with a driver, under short names.
const (
	long  = leasedtest.Long
	short = leasedtest.Short
)

var (
	soak, limit, addrs        = leasedtest.Soak, leasedtest.Limit, leasedtest.Addrs
	claim, units              = leasedtest.Claim, leasedtest.Units
	request, acquire, enqueue = leasedtest.Request, leasedtest.Acquire, leasedtest.Enqueue
	release, granted          = leasedtest.Release, leasedtest.Granted
	mustBeGranted, take       = leasedtest.MustBeGranted, leasedtest.Take
	openURL, mustOpen         = leasedtest.OpenURL, leasedtest.MustOpen
	until, each               = leasedtest.Until, leasedtest.Each
)

// longest outlives long.
const longest = time.Minute
