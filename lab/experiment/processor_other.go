//go:build !unix

package experiment

import "time"

func processorTime() (used time.Duration, ok bool) { return 0, false }
