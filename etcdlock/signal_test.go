package etcdlock_test

import "os"

// interruptSignal is what a terminal sends on Ctrl-C.
var interruptSignal = os.Interrupt
