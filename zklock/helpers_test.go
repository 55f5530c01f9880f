package zklock_test

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
)

// What tests of this package do with a driver, under short names.
const (
	long  = leasedtest.Long
	short = leasedtest.Short
)

var (
	limit, addrs              = leasedtest.Limit, leasedtest.Addrs
	claim, units              = claimed.Mutex, leasedtest.Units
	request, acquire, enqueue = claimed.Request, claimed.Acquire, claimed.Enqueue
	release, granted          = claimed.Release, leasedtest.Granted
	mustBeGranted, take       = leasedtest.MustBeGranted, leasedtest.Take
	openURL, mustOpen         = leasedtest.OpenURL, leasedtest.MustOpen
	until, each               = leasedtest.Until, leasedtest.Each
)

// longest outlives long.
const longest = time.Minute
